package dev.sessionkeeper.cli;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Formats a dead letter: one line for each field, then its body. */
final class DeadLetterText {
  private static final List<String> FACTS =
      List.of(
          "id",
          "messageId",
          "sessionId",
          "sequence",
          "attempts",
          "replays",
          "enqueuedAt",
          "deadAt",
          "reason",
          "lastError",
          "contentType");

  private DeadLetterText() {}

  static String of(JsonNode letter) {
    var facts =
        FACTS.stream()
            .map(name -> line(label(name), letter.path(name).asString("-")))
            .collect(Collectors.joining("\n"));
    var properties =
        letter.path("properties").properties().stream()
            .map(each -> "\n" + line("  " + each.getKey(), each.getValue().asString("")))
            .collect(Collectors.joining());
    return facts
        + (properties.isEmpty() ? "" : "\nproperties" + properties)
        + "\n\n"
        + body(letter);
  }

  private static String line(String name, String value) {
    return String.format(Locale.ROOT, "%-14s  %s", name, value.isEmpty() ? "-" : value);
  }

  /** Converts {@code lastError} to {@code last error}. */
  private static String label(String member) {
    return member.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase(Locale.ROOT);
  }

  /** Returns the body: JSON as JSON, text as text, other bytes as base64. */
  private static String body(JsonNode letter) {
    if (letter.has("bodyText")) {
      return letter.path("bodyText").asString("");
    }
    return letter.has("bodyBase64")
        ? letter.path("bodyBase64").asString("")
        : letter.path("body").toPrettyString();
  }
}
