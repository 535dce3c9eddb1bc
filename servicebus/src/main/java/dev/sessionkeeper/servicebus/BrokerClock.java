package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;

/**
 * The broker's time, as far as its lock expiries tell: when a retry is due must not depend on whose
 * clock is wrong.
 */
final class BrokerClock {
  private final TimeSource time;
  private volatile Duration ahead = Duration.ZERO;

  BrokerClock(TimeSource time) {
    this.time = time;
  }

  /** A lock was taken or renewed just now and ends then. */
  void lockTaken(Instant lockedUntil, Duration lockDuration) {
    ahead = Duration.between(time.instant(), lockedUntil.minus(lockDuration));
  }

  Instant now() {
    return time.instant().plus(ahead);
  }

  /** The moment of this machine's clock that is the same as one of the broker's. */
  Duration until(long brokerMillis) {
    return Duration.between(now(), Instant.ofEpochMilli(brokerMillis));
  }
}
