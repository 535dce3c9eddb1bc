package dev.sessionkeeper.cli;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/** Formats how long ago a time was, or how far ahead it is. */
final class RelativeTime {
  private static final long MINUTE = 60;
  private static final long HOUR = 60 * MINUTE;
  private static final long DAY = 24 * HOUR;

  private RelativeTime() {}

  /** Parses a time as the API writes it; empty for any other text. */
  static Optional<Instant> read(String text) {
    if (text.length() < 20 || text.charAt(4) != '-' || !text.endsWith("Z")) {
      return Optional.empty();
    }
    try {
      return Optional.of(Instant.parse(text));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  static String of(Instant at, Instant now) {
    long seconds = Duration.between(at, now).toSeconds();
    return seconds >= 0 ? amount(seconds) + " ago" : "in " + amount(-seconds);
  }

  private static String amount(long seconds) {
    if (seconds < 2 * MINUTE) {
      return seconds + "s";
    }
    if (seconds < 2 * HOUR) {
      return seconds / MINUTE + "m";
    }
    return seconds < 2 * DAY ? seconds / HOUR + "h" : seconds / DAY + "d";
  }
}
