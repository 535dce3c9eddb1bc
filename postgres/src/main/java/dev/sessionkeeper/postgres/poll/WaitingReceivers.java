package dev.sessionkeeper.postgres.poll;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts consumers that wait for messages of a session they hold. */
public final class WaitingReceivers {
  private final AtomicInteger count = new AtomicInteger();
  private final Runnable onWait;

  /**
   * Creates the counter.
   *
   * @param onWait runs when another consumer begins to wait
   */
  public WaitingReceivers(Runnable onWait) {
    this.onWait = onWait;
  }

  public void begin() {
    count.incrementAndGet();
    onWait.run();
  }

  public void end() {
    count.decrementAndGet();
  }

  public boolean isAnyWaiting() {
    return count.get() > 0;
  }
}
