package dev.sessionkeeper.server.dashboard;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;

/** Formats numbers and times for people. */
final class Show {
  private static final DateTimeFormatter ABSOLUTE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS 'UTC'").withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter CLOCK =
      DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneOffset.UTC);

  /** The most characters of a text that a page shows; of a longer one it shows the beginning. */
  private static final int MOST_SHOWN = 256 << 10;

  private static final int BEGINNING = 16 << 10;

  private Show() {}

  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** A count for a headline: exact up to ten thousand, then 12.3 k or 4.5 M. */
  static String brief(long number) {
    if (number < 10_000) {
      return count(number);
    }
    return number < 1_000_000
        ? String.format(Locale.ROOT, "%.1f k", number / 1e3)
        : String.format(Locale.ROOT, "%.1f M", number / 1e6);
  }

  /** A number with all of its digits, in groups of three. */
  static String grouped(String number) {
    var plain = new BigDecimal(number).toPlainString();
    int point = plain.indexOf('.');
    var whole = point < 0 ? plain : plain.substring(0, point);
    return whole.replaceAll("(?<=[0-9])(?=([0-9]{3})+$)", ",")
        + (point < 0 ? "" : plain.substring(point));
  }

  /** A number with all of its digits and without an exponent. */
  static String amount(String number) {
    return number.isEmpty() ? "–" : new BigDecimal(number).toPlainString();
  }

  /** A count that is exact up to ten thousand. */
  static String bounded(long number) {
    return number > 10_000 ? "10,000+" : count(number);
  }

  static String absolute(Optional<Instant> time) {
    return time.map(ABSOLUTE::format).orElse("");
  }

  static String clock(Optional<Instant> time) {
    return time.map(CLOCK::format).orElse("");
  }

  static String machine(Optional<Instant> time) {
    return time.map(Instant::toString).orElse("");
  }

  /** Formats how long ago something was, or how far ahead it is. */
  static String age(Duration age) {
    if (age.abs().toSeconds() < 1) {
      return "now";
    }
    return age.isNegative() ? "in " + duration(age.negated()) : duration(age) + " ago";
  }

  /** Formats a duration by its largest unit, and the next smaller one if it adds information. */
  static String duration(Duration duration) {
    var positive = duration.abs();
    long seconds = positive.toSeconds();
    if (seconds < 1) {
      return positive.toMillis() + " ms";
    }
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 2 * 3600) {
      return seconds / 60 + " min";
    }
    if (seconds < 48 * 3600) {
      return seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
    }
    return seconds / 86_400 + " d";
  }

  /** Formats the duration of a setting as briefly as possible. */
  static String setting(Duration duration) {
    if (duration.isZero()) {
      return "off";
    }
    if (duration.toDays() >= 1 && duration.equals(Duration.ofDays(duration.toDays()))) {
      return duration.toDays() + " d";
    }
    if (duration.toHours() >= 1 && duration.equals(Duration.ofHours(duration.toHours()))) {
      return duration.toHours() + " h";
    }
    if (duration.toMinutes() >= 1 && duration.equals(Duration.ofMinutes(duration.toMinutes()))) {
      return duration.toMinutes() + " min";
    }
    return duration.toMillis() % 1000 == 0
        ? duration.toSeconds() + " s"
        : duration.toMillis() + " ms";
  }

  static String bytes(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    String[] units = {"KB", "MB", "GB", "TB"};
    var size = BigDecimal.valueOf(bytes);
    int unit = -1;
    while (size.compareTo(BigDecimal.valueOf(1024)) >= 0 && unit < units.length - 1) {
      size = size.divide(BigDecimal.valueOf(1024), 1, RoundingMode.HALF_UP);
      unit++;
    }
    return size.stripTrailingZeros().toPlainString() + " " + units[unit];
  }

  /** Returns a count with its noun in the singular or plural. */
  static String plural(long count, String one, String many) {
    return count(count) + " " + (count == 1 ? one : many);
  }

  /** Returns the detail of a problem as a sentence; the advice beneath says to try again. */
  static String sentence(String detail) {
    var text = detail.replaceFirst("; try again\\.?$", "");
    return text.isEmpty() || text.matches("(?s).*[.!?:]") ? text : text + ".";
  }

  /** The first line of a text, shortened. */
  static String line(String text, int most) {
    var first = text.lines().findFirst().orElse("");
    return first.length() <= most ? first : first.substring(0, most - 1) + "…";
  }

  /** Returns a text, shortened to what a page can show. */
  static String cut(String text) {
    return text.length() <= MOST_SHOWN
        ? text
        : text.substring(0, BEGINNING)
            + "\n… and "
            + count(text.length() - BEGINNING)
            + " more characters; the API has all of it";
  }

  static String words(String constant) {
    return constant.toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
