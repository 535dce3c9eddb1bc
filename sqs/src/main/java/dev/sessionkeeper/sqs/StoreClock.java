package dev.sessionkeeper.sqs;

import dev.sessionkeeper.time.TimeSource;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/**
 * The time of SQS, from the dates of its answers: a node whose clock is wrong must not make
 * messages too old.
 *
 * <p>A date has whole seconds. Our own clock is used as long as it agrees with the dates. It goes
 * on by the monotonic clock, so a wall clock that jumps changes nothing.
 */
final class StoreClock {
  private static final Duration RESOLUTION = Duration.ofSeconds(1);

  private final TimeSource time;
  private final Instant begun;
  private final long begunNanos;
  private volatile Duration ahead = Duration.ZERO;

  StoreClock(TimeSource time) {
    this.time = time;
    this.begun = time.instant();
    this.begunNanos = time.nanoTime();
  }

  private Instant own() {
    return begun.plus(time.since(begunNanos));
  }

  /** An answer came now and bears this date. */
  void answered(Optional<String> date) {
    date.flatMap(StoreClock::parse).ifPresent(this::seen);
  }

  private void seen(Instant date) {
    var least = Duration.between(own(), date);
    var most = least.plus(RESOLUTION);
    if (least.isPositive()) {
      ahead = least;
    } else if (most.plus(RESOLUTION).isNegative()) {
      // A second more is allowed for: the answer was on its way.
      ahead = most;
    } else {
      ahead = Duration.ZERO;
    }
  }

  Instant now() {
    return own().plus(ahead);
  }

  private static Optional<Instant> parse(String date) {
    try {
      return Optional.of(
          ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }
}
