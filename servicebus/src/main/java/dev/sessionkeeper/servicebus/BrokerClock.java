package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;

/**
 * The broker's time, as far as its lock expiries tell: when a retry is due must not depend on whose
 * clock is wrong.
 *
 * <p>Between two expiries time goes on by the monotonic clock, so a wall clock that jumps changes
 * nothing either.
 */
final class BrokerClock {
  private final TimeSource time;
  private volatile Seen last;

  BrokerClock(TimeSource time) {
    this.time = time;
    this.last = new Seen(time.instant(), time.nanoTime());
  }

  /** A lock was taken or renewed just now and ends then. */
  void lockTaken(Instant lockedUntil, Duration lockDuration) {
    lockTaken(lockedUntil, lockDuration, Duration.ZERO);
  }

  /** A lock was taken so long ago and ends then. */
  void lockTaken(Instant lockedUntil, Duration lockDuration, Duration age) {
    last = new Seen(lockedUntil.minus(lockDuration).plus(age), time.nanoTime());
  }

  Instant now() {
    var seen = last;
    return seen.instant().plus(time.since(seen.nanos()));
  }

  /** The moment of this machine's clock that is the same as one of the broker's. */
  Duration until(long brokerMillis) {
    return Duration.between(now(), Instant.ofEpochMilli(brokerMillis));
  }

  /** A moment of the broker's clock, and the same one of the monotonic clock. */
  private record Seen(Instant instant, long nanos) {}
}
