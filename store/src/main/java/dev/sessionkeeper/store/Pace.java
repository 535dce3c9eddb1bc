package dev.sessionkeeper.store;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Keeps a minimum interval between the beginnings of two pieces of work, so that under load they
 * are few and large: a given interval after a small piece, at least three times its duration after
 * a large one, and sixteen times if other work is held up meanwhile. Work that comes later than the
 * interval does not wait. For one thread at a time.
 */
public final class Pace {
  private static final int LARGE = 8;
  private static final int TIMES = 3;

  /** The size of a very large piece while other work is held up, and the factor of its interval. */
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

  /** Waits until the interval is over, and begins. */
  public void begin() {
    begin(() -> false);
  }

  /**
   * Begins as {@link #begin()} does; at once if the condition holds, or when the thread is woken.
   */
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

  /** Returns the interval between the beginnings of the last piece and the next. */
  Duration distance() {
    return Duration.ofNanos(distance);
  }

  /** Ends a piece of work; the given interval suffices after it. */
  public void end() {
    end(1, false);
  }

  /** Ends a piece of work of this size. */
  public void end(int size) {
    end(size, false);
  }

  /**
   * Ends a piece of work as {@link #end(int)} does.
   *
   * @param areOthersHeldUp whether other work waits for resources that this work uses: the same
   *     store and the same processors
   */
  public void end(int size, boolean areOthersHeldUp) {
    long took = time.nanoTime() - began;
    int times = areOthersHeldUp && size >= VERY_LARGE ? TIMES_WHILE_HELD_UP : TIMES;
    distance = size < LARGE ? least : Math.clamp(times * took, least, Math.max(least, MOST_NANOS));
  }
}
