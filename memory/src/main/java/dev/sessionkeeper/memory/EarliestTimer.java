package dev.sessionkeeper.memory;

import dev.sessionkeeper.time.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs a task at the earliest moment for which something is due. One timer serves any number of due
 * objects.
 */
final class EarliestTimer {
  private final Ticks ticks;
  private final ReentrantLock lock;
  private final LongSupplier nextDue;
  private final Runnable onFire;

  // Guarded by the lock of the owner, which callers of set() and stop() hold.
  private TimeSource.@Nullable Timer timer;
  private long firesAt = Ticks.NEVER;
  private boolean stopped;

  EarliestTimer(Ticks ticks, ReentrantLock lock, LongSupplier nextDue, Runnable onFire) {
    this.ticks = ticks;
    this.lock = lock;
    this.nextDue = nextDue;
    this.onFire = onFire;
  }

  /** Sets the timer no later than the next due moment; too early does no harm. */
  void set() {
    long next = nextDue.getAsLong();
    if (next >= firesAt || stopped) {
      return;
    }
    if (timer != null) {
      timer.cancel();
    }
    firesAt = next;
    timer = ticks.runAt(next, this::fire);
  }

  void stop() {
    stopped = true;
    if (timer != null) {
      timer.cancel();
    }
  }

  private void fire() {
    onFire.run();
    lock.lock();
    try {
      firesAt = Ticks.NEVER;
      set();
    } finally {
      lock.unlock();
    }
  }
}
