package dev.sessionkeeper.memory;

import dev.sessionkeeper.time.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs a task at the first moment for which something is due. One timer, however many things wait.
 */
final class Alarm {
  private final Ticks ticks;
  private final ReentrantLock lock;
  private final LongSupplier nextDue;
  private final Runnable onRing;

  // Guarded by the lock of the owner, which callers of set() and stop() hold.
  private TimeSource.@Nullable Timer timer;
  private long rings = Ticks.NEVER;
  private boolean stopped;

  Alarm(Ticks ticks, ReentrantLock lock, LongSupplier nextDue, Runnable onRing) {
    this.ticks = ticks;
    this.lock = lock;
    this.nextDue = nextDue;
    this.onRing = onRing;
  }

  /** Sets the timer no later than the next due moment; too early does no harm. */
  void set() {
    long next = nextDue.getAsLong();
    if (next >= rings || stopped) {
      return;
    }
    if (timer != null) {
      timer.cancel();
    }
    rings = next;
    timer = ticks.runAt(next, this::ring);
  }

  void stop() {
    stopped = true;
    if (timer != null) {
      timer.cancel();
    }
  }

  private void ring() {
    onRing.run();
    lock.lock();
    try {
      rings = Ticks.NEVER;
      set();
    } finally {
      lock.unlock();
    }
  }
}
