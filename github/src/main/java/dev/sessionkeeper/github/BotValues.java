package dev.sessionkeeper.github;

import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The configured values of one bot. An invalid value is recorded as an error and replaced by its
 * default, so that one pass finds every mistake of a file. No bot is created if there is an error.
 */
final class BotValues {
  private record Located(String path, Object value) {}

  private final String path;
  private final Map<String, Located> values = new LinkedHashMap<>();
  private final List<ConfigProblem> problems;

  BotValues(String path, List<ConfigProblem> problems) {
    this.path = path;
    this.problems = problems;
  }

  /** Adds a section of the file. A key that another section has given already is a mistake. */
  void add(String at, Map<?, ?> section, List<String> allowed) {
    section.forEach(
        (key, value) -> {
          var name = String.valueOf(key);
          if (!allowed.contains(name)) {
            note(at + "." + name, "is not a key here; keys are " + String.join(", ", allowed));
          } else if (value != null) {
            var before = values.putIfAbsent(name, new Located(at + "." + name, value));
            if (before != null) {
              note(at + "." + name, "is set in " + before.path() + " already");
            }
          }
        });
  }

  /** Returns the values nested inside one of these. */
  BotValues inside(String at) {
    return new BotValues(at, problems);
  }

  String path() {
    return path;
  }

  boolean has(BotKey key) {
    return values.containsKey(key.key());
  }

  Optional<Object> get(String key) {
    return Optional.ofNullable(values.get(key)).map(Located::value);
  }

  String pathOf(String key) {
    var located = values.get(key);
    return located == null ? path + "." + key : located.path();
  }

  Optional<String> text(BotKey key) {
    return text(key.key(), key.allowed());
  }

  Optional<String> text(String key, String allowed) {
    return read(
        key, allowed, value -> value instanceof String text ? Optional.of(text) : Optional.empty());
  }

  /** Returns one of the choices, which the file writes in lower case. */
  <E extends Enum<E>> E choice(BotKey key, List<E> choices) {
    return read(key.key(), key.allowed(), value -> chosen(choices, value))
        .or(() -> chosen(choices, byDefault(key)))
        .orElseThrow();
  }

  boolean flag(BotKey key) {
    return flag(key.key())
        .orElseGet(() -> key.initially().map(Boolean::parseBoolean).orElse(false));
  }

  Optional<Boolean> flag(String key) {
    return read(
        key,
        "true or false",
        value -> value instanceof Boolean flag ? Optional.of(flag) : Optional.empty());
  }

  int number(BotKey key, int least, int most) {
    return read(
            key.key(),
            key.allowed(),
            value ->
                Optional.of(value)
                    .filter(given -> given instanceof Integer || given instanceof Long)
                    .map(given -> ((Number) given).longValue())
                    .filter(number -> number >= least && number <= most)
                    .map(Long::intValue))
        .orElseGet(() -> Integer.valueOf(byDefault(key)));
  }

  /** Returns a setting of the bot's queue, within the range of every queue. */
  <T> T setting(BotKey key, QueueSetting<T> setting) {
    return setting
        .values()
        .parse(
            switch (setting.values()) {
              case QueueSetting.WholeNumber range ->
                  String.valueOf(number(key, range.least(), range.most()));
              case QueueSetting.TimeSpan range ->
                  duration(key, range.least(), range.most()).toString();
              case QueueSetting.Choice<?> choices -> throw new IllegalArgumentException(key.key());
            });
  }

  Optional<Double> decimal(String key, double least, double most) {
    return read(
        key,
        "a number from " + (int) least + " to " + (int) most,
        value -> decimalOf(value).filter(number -> number >= least && number <= most));
  }

  Duration duration(BotKey key, Duration least, Duration most) {
    return duration(key.key(), key.allowed(), least, most)
        .orElseGet(() -> DurationText.parse(byDefault(key)));
  }

  Optional<Duration> duration(String key, String allowed, Duration least, Duration most) {
    return read(
        key,
        "a duration such as 5m or PT5M, " + allowed,
        value ->
            durationOf(value)
                .filter(given -> given.compareTo(least) >= 0 && given.compareTo(most) <= 0));
  }

  /** Parses each text of a list. A single text is a list of one. */
  <T> Optional<List<T>> list(BotKey key, Function<String, T> parser) {
    return get(key.key())
        .map(
            value -> {
              var items = value instanceof List<?> many ? many : List.of(value);
              if (items.isEmpty()) {
                note(pathOf(key.key()), "must not be empty; it is " + key.allowed());
              }
              var parsed = new ArrayList<T>();
              for (int i = 0; i < items.size(); i++) {
                var at = value instanceof List<?> ? "[" + i + "]" : "";
                parsed(pathOf(key.key()) + at, items.get(i), parser).ifPresent(parsed::add);
              }
              return parsed;
            });
  }

  private <T> Optional<T> parsed(String at, Object item, Function<String, T> parser) {
    if (!(item instanceof String text)) {
      note(at, "must be a text, was " + shown(item));
      return Optional.empty();
    }
    try {
      return Optional.of(parser.apply(text));
    } catch (IllegalArgumentException e) {
      note(at, e.getMessage() + ", was " + shown(item));
      return Optional.empty();
    }
  }

  void note(String at, String problem) {
    problems.add(new ConfigProblem(at, problem));
  }

  private <T> Optional<T> read(String key, String allowed, Function<Object, Optional<T>> reading) {
    return get(key)
        .flatMap(
            value -> {
              var read = reading.apply(value);
              if (read.isEmpty()) {
                note(pathOf(key), "must be " + allowed + ", was " + shown(value));
              }
              return read;
            });
  }

  private static <E extends Enum<E>> Optional<E> chosen(List<E> choices, Object value) {
    return choices.stream()
        .filter(choice -> choice.name().toLowerCase(Locale.ROOT).equals(value))
        .findFirst();
  }

  private static Optional<Double> decimalOf(Object value) {
    try {
      return value instanceof Boolean
          ? Optional.empty()
          : Optional.of(Double.valueOf(String.valueOf(value)));
    } catch (NumberFormatException notANumber) {
      return Optional.empty();
    }
  }

  private static Optional<Duration> durationOf(Object value) {
    try {
      return Optional.of(DurationText.parse(String.valueOf(value)));
    } catch (IllegalArgumentException notADuration) {
      return Optional.empty();
    }
  }

  private static String byDefault(BotKey key) {
    return key.initially().orElseThrow();
  }

  static String shown(Object value) {
    var text = String.valueOf(value);
    return value instanceof String
        ? "\"" + (text.length() > 60 ? text.substring(0, 60) + "…" : text) + "\""
        : text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }
}
