package dev.sessionkeeper.memory;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Time as the queues count it: nanoseconds of the monotonic clock since the provider was created,
 * so that a jump of the wall clock moves no lease, retry or expiry.
 */
final class Ticks {
  /** Stands for "never". */
  static final long NEVER = Long.MAX_VALUE;

  private static final long LONGEST = Duration.ofDays(365 * 100).toNanos();

  private final TimeSource time;
  private final long origin;

  Ticks(TimeSource time) {
    this.time = time;
    this.origin = time.nanoTime();
  }

  long now() {
    return time.nanoTime() - origin;
  }

  Instant instant() {
    return time.instant();
  }

  /** Returns the moment that is this much later than {@code now}. */
  static long later(long now, Duration duration) {
    return now + nanos(duration);
  }

  /** Returns the moment at which the wall clock will show this time, unless it jumps. */
  long at(Instant wall, long now) {
    return later(now, Duration.between(time.instant(), wall));
  }

  /** Returns the wall-clock time of a tick, if the clock does not jump. */
  Instant wallAt(long moment) {
    return time.instant().plusNanos(moment - now()).truncatedTo(ChronoUnit.MICROS);
  }

  /** Runs the task at a moment, or soon if the moment has passed. */
  TimeSource.Timer runAt(long moment, Runnable task) {
    return time.schedule(Duration.ofNanos(Math.max(0, moment - now())), task);
  }

  TimeSource.Timer runAfter(Duration delay, Runnable task) {
    return time.schedule(delay, task);
  }

  private static long nanos(Duration duration) {
    // A duration of centuries would overflow; a century is as good as never here.
    return duration.toDays() >= 365 * 100
        ? LONGEST
        : duration.toDays() <= -365 * 100 ? -LONGEST : duration.toNanos();
  }
}
