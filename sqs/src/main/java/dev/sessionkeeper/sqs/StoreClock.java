package dev.sessionkeeper.sqs;

import dev.sessionkeeper.time.TimeSource;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/**
 * The time of SQS, from the dates of its answers, so that a node with a wrong clock does not make
 * messages expire.
 *
 * <p>A date has whole seconds. The local clock is used while it agrees with the dates. Monotonic
 * time is added, so a jump of the wall clock changes nothing.
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

  /** Records that an answer with this date has just arrived. */
  void answered(Optional<String> date) {
    date.flatMap(StoreClock::parse).ifPresent(this::seen);
  }

  private void seen(Instant date) {
    var least = Duration.between(own(), date);
    var most = least.plus(RESOLUTION);
    if (least.isPositive()) {
      ahead = least;
    } else if (most.plus(RESOLUTION).isNegative()) {
      // Allows for a second more, while the answer was on its way.
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
