package dev.sessionkeeper.postgres.prefetch;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes of prefetched payloads that wait for a handler, over all queues of a provider.
 *
 * <p>Threads: any. I1: a queue without prefetched payloads may always read one message, so a queue
 * with slow handlers never stops another.
 */
public final class PrefetchBudget {
  private final long most;
  private final AtomicLong used = new AtomicLong();
  private final List<Runnable> waiting = new CopyOnWriteArrayList<>();

  public PrefetchBudget(long most) {
    this.most = most;
  }

  public long used() {
    return used.get();
  }

  /**
   * Returns the budget of one queue.
   *
   * @param onRoom runs when there is room again; must not block
   */
  public Share share(Runnable onRoom) {
    waiting.add(onRoom);
    return new Share();
  }

  /** The bytes that one queue has in memory. */
  public final class Share {
    private final AtomicLong own = new AtomicLong();

    /** Returns how many bytes may be read now; at least one message while this queue has none. */
    public long room() {
      long left = most - used.get();
      return own.get() == 0 ? Math.max(1, left) : Math.max(0, left);
    }

    public void add(long bytes) {
      own.addAndGet(bytes);
      used.addAndGet(bytes);
    }

    public void remove(long bytes) {
      if (bytes == 0) {
        return;
      }
      own.addAndGet(-bytes);
      long now = used.addAndGet(-bytes);
      if (now < most && now + bytes >= most) {
        waiting.forEach(Runnable::run);
      }
    }
  }
}
