package dev.sessionkeeper.server.json;

import dev.sessionkeeper.time.DurationText;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Decoders of the types used in the API's JSON. */
public final class Decode {
  private static final int MAX_DIGITS = 19;
  private static final Pattern DECIMAL = Pattern.compile("-?[0-9]{1,12}([.][0-9]{1,6})?");
  private static final Map<String, Boolean> BOOLEANS = Map.of("true", true, "false", false);
  private static final Pattern GUID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  private Decode() {}

  /** Any text without NUL and lone surrogates, which no store can keep. */
  public static Decoder<String> text() {
    return value -> {
      var text = anyText(value);
      if (text.indexOf(0) >= 0) {
        throw new InvalidInput("", "must not hold the character U+0000");
      }
      return text;
    };
  }

  /** Text of at most so many characters. */
  public static Decoder<String> text(int maxLength) {
    return text()
        .map(
            text -> {
              if (text.length() > maxLength) {
                throw new IllegalArgumentException(
                    "must have at most " + maxLength + " characters, had " + text.length());
              }
              return text;
            });
  }

  /** Any text that can be written as UTF-8, U+0000 included. */
  public static String anyText(JsonValue value) {
    var text = textOf(value);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw new InvalidInput("", "holds half of a surrogate pair");
      }
    }
    return text;
  }

  private static String textOf(JsonValue value) {
    if (value instanceof JsonValue.Text text) {
      return text.value();
    }
    if (value instanceof JsonValue.Word word) {
      return word.value();
    }
    throw new InvalidInput("", "must be text, was " + value.kind());
  }

  public static Decoder<Long> integer(long least, long most) {
    return value -> parseInteger(literalOf(value, "a whole number"), least, most);
  }

  private static String literalOf(JsonValue value, String wanted) {
    if (value instanceof JsonValue.Num number) {
      return number.literal();
    }
    if (value instanceof JsonValue.Word word) {
      return word.value();
    }
    throw new InvalidInput("", "must be " + wanted + ", was " + value.kind());
  }

  public static Decoder<Integer> integer(int least, int most) {
    return integer((long) least, (long) most).map(Math::toIntExact);
  }

  private static long parseInteger(String literal, long least, long most) {
    try {
      // Checked by hand, because a work request may hold thousands of sequence numbers.
      if (isInteger(literal)) {
        long number = Long.parseLong(literal);
        if (number >= least && number <= most) {
          return number;
        }
      }
    } catch (NumberFormatException e) {
      // Nineteen digits may exceed a long; the error below says so.
    }
    throw new InvalidInput(
        "", "must be a whole number from " + least + " to " + most + ", was " + shown(literal));
  }

  /** Returns whether this is a whole number without leading zeros, of at most nineteen digits. */
  private static boolean isInteger(String literal) {
    int first = literal.startsWith("-") ? 1 : 0;
    int digits = literal.length() - first;
    if (digits < 1 || digits > MAX_DIGITS || (digits > 1 && literal.charAt(first) == '0')) {
      return false;
    }
    for (int i = first; i < literal.length(); i++) {
      if (literal.charAt(i) < '0' || literal.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }

  /** A number with at most six decimal places. */
  public static Decoder<BigDecimal> decimal(BigDecimal least, BigDecimal most) {
    return value -> {
      var literal = literalOf(value, "a number");
      if (DECIMAL.matcher(literal).matches()) {
        var number = new BigDecimal(literal);
        if (number.compareTo(least) >= 0 && number.compareTo(most) <= 0) {
          return number;
        }
      }
      throw new InvalidInput(
          "", "must be a number from " + least + " to " + most + ", was " + shown(literal));
    };
  }

  public static Decoder<Boolean> bool() {
    return value -> {
      if (value instanceof JsonValue.Bool bool) {
        return bool.value();
      }
      if (value instanceof JsonValue.Word word && BOOLEANS.containsKey(word.value())) {
        return BOOLEANS.get(word.value());
      }
      throw new InvalidInput("", "must be true or false, was " + value.kind());
    };
  }

  /** A duration such as {@code 5s} or {@code PT5S}, within these bounds. */
  public static Decoder<Duration> duration(Duration least, Duration most) {
    return value -> {
      if (value instanceof JsonValue.Num) {
        throw new InvalidInput(
            "", "must be a duration with its unit such as 5s or PT5S, was a number");
      }
      return text().map(text -> parseDuration(text, least, most)).decode(value);
    };
  }

  private static Duration parseDuration(String text, Duration least, Duration most) {
    Duration duration;
    try {
      duration = DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(e.getMessage() + ", was " + shown(text), e);
    }
    if (duration.compareTo(least) < 0 || duration.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "must be from " + least + " to " + most + ", was " + shown(text));
    }
    return duration;
  }

  /** An RFC 3339 time with any offset. */
  public static Decoder<Instant> instant() {
    return text().map(Decode::parseInstant);
  }

  // Keeps microseconds, as the stores do, and truncates the rest.
  private static Instant parseInstant(String text) {
    try {
      var time = OffsetDateTime.parse(text).toInstant();
      if (time.isBefore(Instant.EPOCH) || !time.isBefore(Instant.parse("9999-01-01T00:00:00Z"))) {
        throw new IllegalArgumentException("must be from 1970 to 9998, was " + shown(text));
      }
      return time.truncatedTo(java.time.temporal.ChronoUnit.MICROS);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "must be a time such as 2026-01-31T12:00:00Z, was " + shown(text), e);
    }
  }

  public static Decoder<UUID> guid() {
    return text().map(Decode::parseGuid);
  }

  public static UUID parseGuid(String text) {
    if (!GUID.matcher(text).matches()) {
      throw new IllegalArgumentException("must be a GUID, was " + shown(text));
    }
    return UUID.fromString(text);
  }

  /** Decodes one of these words, exactly as written. */
  public static <T> Decoder<T> oneOf(Map<String, T> words) {
    return text().map(text -> parseOneOf(words, text));
  }

  private static <T> T parseOneOf(Map<String, T> words, String text) {
    var found = words.get(text);
    if (found == null) {
      throw new IllegalArgumentException(
          "must be one of " + String.join(", ", words.keySet()) + ", was " + shown(text));
    }
    return found;
  }

  /** One of an enum's constants, by its name. */
  public static <E extends Enum<E>> Decoder<E> oneOf(Class<E> type) {
    return oneOf(words(type, Enum::name));
  }

  /** Returns the words of an enum, in its order. */
  public static <E extends Enum<E>> Map<String, E> words(Class<E> type, Function<E, String> word) {
    return Arrays.stream(type.getEnumConstants())
        .collect(Collectors.toMap(word, e -> e, (a, b) -> a, LinkedHashMap::new));
  }

  public static Decoder<byte[]> base64() {
    return text()
        .map(
            text -> {
              try {
                return Base64.getDecoder().decode(text);
              } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("must be base64", e);
              }
            });
  }

  /** A list with a bounded number of items; errors name the item's index. */
  public static <T> Decoder<List<T>> list(int least, int most, Decoder<T> item) {
    return value -> {
      if (!(value instanceof JsonValue.Arr list)) {
        throw new InvalidInput("", "must be a list, was " + value.kind());
      }
      var items = list.items();
      if (items.size() < least || items.size() > most) {
        throw new InvalidInput(
            "", "must have " + least + " to " + most + " items, had " + items.size());
      }
      var decoded = new ArrayList<T>(items.size());
      var errors = new ArrayList<FieldError>();
      for (int i = 0; i < items.size(); i++) {
        try {
          decoded.add(item.decode(items.get(i)));
        } catch (InvalidInput e) {
          var place = "[" + i + "]";
          e.errors().forEach(error -> errors.add(error.inside(place)));
        }
      }
      if (!errors.isEmpty()) {
        throw new InvalidInput(errors);
      }
      return decoded;
    };
  }

  /** A nested object, read by its own reader. */
  public static <T> Decoder<T> object(Function<Fields, T> reader) {
    return value -> {
      if (value instanceof JsonValue.Obj object) {
        return reader.apply(new Fields(object));
      }
      throw new InvalidInput("", "must be an object, was " + value.kind());
    };
  }

  /** An object with arbitrary names and values of one type. */
  public static <T> Decoder<Map<String, T>> map(Decoder<T> member) {
    return value -> {
      if (!(value instanceof JsonValue.Obj object)) {
        throw new InvalidInput("", "must be an object, was " + value.kind());
      }
      var decoded = new LinkedHashMap<String, T>();
      var errors = new ArrayList<FieldError>();
      object
          .members()
          .forEach(
              (name, inner) -> {
                try {
                  decoded.put(
                      text().decode(new JsonValue.Text(name, inner.span())), member.decode(inner));
                } catch (InvalidInput e) {
                  e.errors().forEach(error -> errors.add(error.inside(shown(name))));
                }
              });
      if (!errors.isEmpty()) {
        throw new InvalidInput(errors);
      }
      return decoded;
    };
  }

  /** An object with arbitrary names and text values. */
  public static Decoder<Map<String, String>> texts() {
    return map(text());
  }

  /** Any value, unchanged. */
  public static Decoder<JsonValue> any() {
    return value -> value;
  }

  /** Formats an untrusted value for a message: short and printable. */
  public static String shown(String value) {
    var shown = new StringBuilder();
    value
        .codePoints()
        .limit(60)
        .forEach(c -> shown.appendCodePoint(Character.isISOControl(c) || isSurrogate(c) ? '?' : c));
    return value.length() > 60 ? shown + "…" : shown.toString();
  }

  private static boolean isSurrogate(int codePoint) {
    return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
  }
}
