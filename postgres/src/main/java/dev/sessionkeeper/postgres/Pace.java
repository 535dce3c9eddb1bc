package dev.sessionkeeper.postgres;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A least distance between the beginnings of two pieces of work. Whoever comes after a longer time
 * does not wait. For one thread at a time.
 */
final class Pace {
  /** No distance. */
  static final Pace NONE = new Pace(TimeSource.system(), Duration.ZERO);

  private final TimeSource time;
  private final long distance;
  private volatile long began;

  private Pace(TimeSource time, Duration distance) {
    this.time = time;
    this.distance = distance.toNanos();
    this.began = time.nanoTime() - this.distance;
  }

  static Pace of(TimeSource time, Duration distance) {
    return new Pace(time, distance);
  }

  /** Waits until it is time, and begins. */
  void begin() {
    if (distance == 0) {
      return;
    }
    long left = distance - (time.nanoTime() - began);
    if (left > 0) {
      LockSupport.parkNanos(left);
    }
    began = time.nanoTime();
  }
}
