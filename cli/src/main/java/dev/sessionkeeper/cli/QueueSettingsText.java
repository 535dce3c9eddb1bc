package dev.sessionkeeper.cli;

import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.time.DurationText;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Formats the settings of a queue under the names of the options of {@code queues create}. */
final class QueueSettingsText {
  private static final List<String> SETTINGS =
      Stream.concat(Stream.of("mode"), QueueSetting.all().stream().map(QueueSetting::name))
          .toList();

  private QueueSettingsText() {}

  /** Returns one line for each setting. */
  static String lines(JsonNode queue) {
    return SETTINGS.stream()
        .map(name -> String.format("%-18s  %s", option(name), text(queue.path(name))))
        .collect(Collectors.joining("\n"));
  }

  /** Returns one line for each changed setting, old and new; empty if none changed. */
  static String changes(JsonNode before, JsonNode after) {
    return SETTINGS.stream()
        .filter(name -> !before.path(name).equals(after.path(name)))
        .map(name -> "  " + option(name) + ": " + change(before.path(name), after.path(name)))
        .collect(Collectors.joining("\n"));
  }

  private static String change(JsonNode before, JsonNode after) {
    return text(before) + " → " + text(after);
  }

  /** Formats a duration for people: {@code 1m}, not {@code PT1M}. */
  private static String text(JsonNode setting) {
    var text = setting.asString("-");
    if (text.matches("[A-Z]+_[A-Z_]+")) {
      return text.toLowerCase(Locale.ROOT).replace('_', '-'); // As the option takes it.
    }
    try {
      return text.startsWith("P") ? DurationText.readable(Duration.parse(text)) : text;
    } catch (DateTimeParseException notADuration) {
      return text;
    }
  }

  /** Converts {@code lockDuration} to {@code lock-duration}. */
  private static String option(String member) {
    return member.replaceAll("([a-z])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
  }
}
