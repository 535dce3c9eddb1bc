package dev.sessionkeeper.postgres.poll;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Fires once, at the earliest of the times it was set to. */
public final class EarliestTimer {
  private final TimeSource time;
  private final Runnable action;
  private TimeSource.@Nullable Timer timer;
  private long firesAt;

  public EarliestTimer(TimeSource time, Runnable action) {
    this.time = time;
    this.action = action;
  }

  /** Fires after the delay, unless the timer fires sooner anyway. */
  public synchronized void fireWithin(Duration delay) {
    long at = time.nanoTime() + delay.toNanos();
    if (timer != null && firesAt - at <= 0) {
      return;
    }
    if (timer != null) {
      timer.cancel();
    }
    firesAt = at;
    timer = time.schedule(delay, this::fire);
  }

  private void fire() {
    synchronized (this) {
      timer = null;
    }
    action.run();
  }

  public synchronized void stop() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }
}
