package dev.sessionkeeper.server.json;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them: {@code 250ms}, {@code 5s}, {@code 2m}, {@code 1h}, {@code 30d} or
 * ISO 8601.
 */
public final class Durations {
  private static final Pattern SHORT = Pattern.compile("([0-9]{1,12})(ms|s|m|h|d)");
  private static final Duration LONGEST = Duration.ofDays(36_525);
  private static final Pattern ISO = Pattern.compile("P[0-9DTHMS.]{2,40}");

  private Durations() {}

  /**
   * Reads a duration.
   *
   * @throws IllegalArgumentException with what is allowed; a bare number is refused, for nobody can
   *     know its unit
   */
  public static Duration parse(String text) {
    var written = SHORT.matcher(text);
    try {
      if (written.matches()) {
        return sane(ofShort(written));
      }
      if (ISO.matcher(text).matches()) {
        return sane(Duration.parse(text));
      }
    } catch (DateTimeException | ArithmeticException e) {
      // Falls through to the one refusal.
    }
    throw new IllegalArgumentException(
        "must be a duration such as 5s or PT5S, was " + Decode.shown(text));
  }

  public static Duration parse(String text, Duration least, Duration most) {
    var duration = parse(text);
    if (duration.compareTo(least) < 0 || duration.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "must be from " + least + " to " + most + ", was " + Decode.shown(text));
    }
    return duration;
  }

  /** Whatever is longer than a century is a slip, and would overflow somewhere later. */
  private static Duration sane(Duration duration) {
    if (duration.compareTo(LONGEST) > 0) {
      throw new ArithmeticException("too long");
    }
    return duration;
  }

  private static Duration ofShort(Matcher written) {
    long amount = Long.parseLong(written.group(1));
    return switch (written.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }
}
