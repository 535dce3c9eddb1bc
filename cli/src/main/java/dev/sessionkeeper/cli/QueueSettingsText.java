package dev.sessionkeeper.cli;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Shows the settings of a queue under the names that {@code queues create} takes. */
final class QueueSettingsText {
  private static final List<String> SETTINGS =
      List.of(
          "mode",
          "maxDeliveryCount",
          "lockDuration",
          "messageTtl",
          "duplicateWindow",
          "poisonPolicy");

  private QueueSettingsText() {}

  /** One line for each setting. */
  static String lines(JsonNode queue) {
    return SETTINGS.stream()
        .map(name -> String.format("%-18s  %s", option(name), queue.path(name).asString("-")))
        .collect(Collectors.joining("\n"));
  }

  /** One line for each setting that differs, old and new; empty if none does. */
  static String changes(JsonNode before, JsonNode after) {
    return SETTINGS.stream()
        .filter(name -> !before.path(name).equals(after.path(name)))
        .map(name -> "  " + option(name) + ": " + change(before.path(name), after.path(name)))
        .collect(Collectors.joining("\n"));
  }

  private static String change(JsonNode before, JsonNode after) {
    return before.asString("-") + " → " + after.asString("-");
  }

  /** {@code lockDuration} becomes {@code lock-duration}. */
  private static String option(String member) {
    return member.replaceAll("([a-z])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
  }
}
