package dev.sessionkeeper.time;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads and writes durations as people do: {@code 5m} or ISO 8601's {@code PT5M}, and nothing else.
 *
 * <p>The units of the short form are {@code ms}, {@code s}, {@code m}, {@code h} and {@code d}. A
 * number without a unit is refused, because its unit would be a guess; so is more than 36,500 days.
 */
public final class DurationText {
  // The longest duration: a longer one is surely a mistake, and would not fit into nanoseconds.
  private static final Duration LONGEST = Duration.ofDays(36_500);
  private static final Pattern SHORT = Pattern.compile("([0-9]{1,12})(ms|s|m|h|d)");
  private static final Pattern ISO = Pattern.compile("P[0-9DTHMS.]{2,40}");

  private DurationText() {}

  /**
   * Reads a duration.
   *
   * @throws IllegalArgumentException if the text is no duration; the message names the allowed
   *     forms, not the text
   */
  public static Duration parse(String text) {
    var duration =
        read(text)
            .orElseThrow(
                () -> new IllegalArgumentException("must be a duration such as 5m or PT5M"));
    if (duration.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("must be a duration of at most 36500d");
    }
    return duration;
  }

  /** Formats a duration for people: {@code 3s}, {@code 1m30s}, {@code 1.5s} or {@code 250ms}. */
  public static String readable(Duration duration) {
    if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
      return duration.toMillis() + "ms";
    }
    var text = new StringBuilder();
    append(text, duration.toDays(), "d");
    append(text, duration.toHoursPart(), "h");
    append(text, duration.toMinutesPart(), "m");
    var seconds =
        BigDecimal.valueOf(duration.toSecondsPart() * 1000L + duration.toMillisPart(), 3)
            .stripTrailingZeros();
    if (seconds.signum() > 0) {
      text.append(seconds.toPlainString()).append('s');
    }
    return text.toString();
  }

  private static void append(StringBuilder text, long amount, String unit) {
    if (amount > 0) {
      text.append(amount).append(unit);
    }
  }

  private static Optional<Duration> read(String text) {
    var parts = SHORT.matcher(text);
    if (parts.matches()) {
      return Optional.of(of(Long.parseLong(parts.group(1)), parts.group(2)));
    }
    try {
      return ISO.matcher(text).matches() ? Optional.of(Duration.parse(text)) : Optional.empty();
    } catch (DateTimeException notIso) {
      return Optional.empty();
    }
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
