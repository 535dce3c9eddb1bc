package dev.sessionkeeper.postgres;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Rings once at the earliest of the times it was set to. */
final class Alarm {
  private final TimeSource time;
  private final Runnable onRing;
  private TimeSource.@Nullable Timer timer;
  private long ringsAt;

  Alarm(TimeSource time, Runnable onRing) {
    this.time = time;
    this.onRing = onRing;
  }

  /** Rings after the delay, unless it is set to ring sooner. */
  synchronized void ringWithin(Duration delay) {
    long at = time.nanoTime() + delay.toNanos();
    if (timer != null && ringsAt - at <= 0) {
      return;
    }
    if (timer != null) {
      timer.cancel();
    }
    ringsAt = at;
    timer = time.schedule(delay, this::ring);
  }

  private void ring() {
    synchronized (this) {
      timer = null;
    }
    onRing.run();
  }

  synchronized void stop() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }
}
