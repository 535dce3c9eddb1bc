package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;

/**
 * The broker's time, as its lock expiries show it, so that a wrong local clock does not shift
 * retries.
 *
 * <p>Between two expiries monotonic time is added, so a jump of the wall clock changes nothing
 * either.
 */
final class BrokerClock {
  private final TimeSource time;
  private volatile Seen last;

  BrokerClock(TimeSource time) {
    this.time = time;
    this.last = new Seen(time.instant(), time.nanoTime());
  }

  /** Records that a lock was just taken or renewed, and when it ends. */
  void lockTaken(Instant lockedUntil, Duration lockDuration) {
    lockTaken(lockedUntil, lockDuration, Duration.ZERO);
  }

  /** Records that a lock was taken some time ago, and when it ends. */
  void lockTaken(Instant lockedUntil, Duration lockDuration, Duration age) {
    last = new Seen(lockedUntil.minus(lockDuration).plus(age), time.nanoTime());
  }

  Instant now() {
    var seen = last;
    return seen.instant().plus(time.since(seen.nanos()));
  }

  /** Returns how long it is until a moment of the broker's clock. */
  Duration until(long brokerMillis) {
    return Duration.between(now(), Instant.ofEpochMilli(brokerMillis));
  }

  /** A moment of the broker's clock and the same moment of monotonic time. */
  private record Seen(Instant instant, long nanos) {}
}
