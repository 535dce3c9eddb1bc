package dev.sessionkeeper.store;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A least distance between the beginnings of two pieces of work, so that under load they are few
 * and large: a given one after a small piece, at least three times what it took after a large one,
 * and sixteen times if others are held up meanwhile. Whoever comes later does not wait. For one
 * thread at a time.
 */
public final class Pace {
  private static final int LARGE = 8;
  private static final int TIMES = 3;

  /** While others are held up: pieces of this size, and how much further apart. */
  private static final int VERY_LARGE = 32;

  private static final int TIMES_WHILE_HELD_UP = 16;
  private static final long MOST_NANOS = Duration.ofMillis(20).toNanos();

  private final TimeSource time;
  private final long least;
  private volatile long distance;
  private volatile long began;

  private Pace(TimeSource time, Duration least) {
    this.time = time;
    this.least = least.toNanos();
    this.distance = this.least;
    this.began = time.nanoTime() - this.least;
  }

  public static Pace of(TimeSource time, Duration least) {
    return new Pace(time, least);
  }

  /** Waits until it is time, and begins. */
  public void begin() {
    begin(() -> false);
  }

  /** As {@link #begin()}; at once where there is nothing to wait for, or when it is woken. */
  void begin(BooleanSupplier isReady) {
    if (least == 0) {
      return;
    }
    long left = distance - (time.nanoTime() - began);
    if (left > 0 && !isReady.getAsBoolean()) {
      LockSupport.parkNanos(left);
    }
    began = time.nanoTime();
  }

  /** Between the beginning of the last piece and that of the next. */
  Duration distance() {
    return Duration.ofNanos(distance);
  }

  /** What was begun is done, and nothing is gained by waiting longer than the given distance. */
  public void end() {
    end(1, false);
  }

  /** What was begun is done, and had this size. */
  public void end(int size) {
    end(size, false);
  }

  /**
   * As {@link #end(int)}.
   *
   * @param areOthersHeldUp whether others wait for what this work takes away from them: time of the
   *     same store and the same processors
   */
  public void end(int size, boolean areOthersHeldUp) {
    long took = time.nanoTime() - began;
    int times = areOthersHeldUp && size >= VERY_LARGE ? TIMES_WHILE_HELD_UP : TIMES;
    distance = size < LARGE ? least : Math.clamp(times * took, least, Math.max(least, MOST_NANOS));
  }
}
