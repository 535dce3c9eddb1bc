package dev.sessionkeeper.time;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Reads durations that people write: {@code 5m} or ISO 8601's {@code PT5M}, and nothing else.
 *
 * <p>The units of the short form are {@code ms}, {@code s}, {@code m}, {@code h} and {@code d}. A
 * number without a unit is refused, because nobody knows what it means.
 */
public final class DurationText {
  private static final Pattern SHORT = Pattern.compile("([0-9]{1,12})(ms|s|m|h|d)");
  private static final Pattern ISO = Pattern.compile("P[0-9DTHMS.]{2,40}");

  private DurationText() {}

  /**
   * @throws IllegalArgumentException saying what is allowed, without the value
   */
  public static Duration parse(String text) {
    var parts = SHORT.matcher(text);
    try {
      if (parts.matches()) {
        return of(Long.parseLong(parts.group(1)), parts.group(2));
      }
      if (ISO.matcher(text).matches()) {
        return Duration.parse(text);
      }
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException("must be a duration such as 5m or PT5M", e);
    }
    throw new IllegalArgumentException("must be a duration such as 5m or PT5M");
  }

  private static Duration of(long amount, String unit) {
    return switch (unit) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }
}
