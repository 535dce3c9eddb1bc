package dev.sessionkeeper.webhook;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads {@code Retry-After}: seconds, or one of the three date forms of RFC 9110. */
final class RetryAfter {
  /** The longest accepted wait: no receiver can delay a session for longer. */
  static final Duration MOST = Duration.ofDays(1);

  private static final Pattern SECONDS = Pattern.compile("[0-9]+");
  private static final List<DateTimeFormatter> DATES =
      List.of(
          DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US),
          new DateTimeFormatterBuilder()
              .appendPattern("EEEE, dd-MMM-")
              .appendValueReduced(ChronoField.YEAR, 2, 2, 2000)
              .appendPattern(" HH:mm:ss 'GMT'")
              .toFormatter(Locale.US),
          DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.US));

  private RetryAfter() {}

  /**
   * Returns how long to wait; empty if the header is missing or invalid.
   *
   * @param date the receiver's own {@code Date}, from which a date is counted, so that a wrong
   *     clock does not matter
   */
  static Optional<Duration> parse(Optional<String> header, Optional<String> date, Instant now) {
    return header.map(String::strip).flatMap(value -> waitFor(value, date, now));
  }

  private static Optional<Duration> waitFor(String value, Optional<String> date, Instant now) {
    if (SECONDS.matcher(value).matches()) {
      // Ten digits are over 30 years; longer numbers need not be parsed.
      return Optional.of(
          value.length() > 10 ? MOST : clipped(Duration.ofSeconds(Long.parseLong(value))));
    }
    var from = date.map(String::strip).flatMap(RetryAfter::instantOf).orElse(now);
    return instantOf(value).map(until -> clipped(Duration.between(from, until)));
  }

  private static Optional<Instant> instantOf(String text) {
    for (var form : DATES) {
      try {
        return Optional.of(ZonedDateTime.parse(text, form.withZone(ZoneOffset.UTC)).toInstant());
      } catch (DateTimeException notThisForm) {
        // Another date form may match.
      }
    }
    return Optional.empty();
  }

  private static Duration clipped(Duration wait) {
    if (wait.isNegative()) {
      return Duration.ZERO;
    }
    return wait.compareTo(MOST) > 0 ? MOST : wait;
  }
}
