package dev.sessionkeeper.cli;

import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.time.DurationText;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import tools.jackson.databind.node.ObjectNode;

/** Adds one option to a command for each setting of a queue. */
final class QueueSettingOptions implements CommandLine.IModelTransformer {
  /** Examples that explain an option better than the setting's name does. */
  private static final Map<QueueSetting<?>, String> EXAMPLES =
      Map.of(
          QueueSetting.LOCK_DURATION, ", such as 60s or PT1M",
          QueueSetting.MESSAGE_TTL, ", such as 48h",
          QueueSetting.DUPLICATE_WINDOW, ", such as 1h");

  @Override
  public CommandSpec transform(CommandSpec command) {
    for (var setting : QueueSetting.all()) {
      command.addOption(
          OptionSpec.builder(option(setting))
              .type(setting.initially() instanceof Integer ? Integer.class : String.class)
              .paramLabel("<" + setting.name() + ">")
              .description(description(setting))
              .build());
    }
    return command;
  }

  /** Adds the settings that the user gave to a request. */
  static void addGiven(CommandSpec command, ObjectNode body) {
    for (var setting : QueueSetting.all()) {
      switch (command.findOption(option(setting)).getValue()) {
        case null -> {}
        case Integer number -> body.put(setting.name(), number);
        case Object text -> body.put(setting.name(), value(setting, text.toString()));
      }
    }
  }

  static String option(QueueSetting<?> setting) {
    return "--" + setting.hyphenated();
  }

  /** Accepts a constant as {@code park-session} as well as {@code PARK_SESSION}. */
  private static String value(QueueSetting<?> setting, String text) {
    return setting.initially() instanceof Enum<?>
        ? text.toUpperCase(Locale.ROOT).replace('-', '_')
        : text;
  }

  private static String description(QueueSetting<?> setting) {
    return setting.description()
        + EXAMPLES.getOrDefault(setting, "")
        + switch (setting.values()) {
          case QueueSetting.WholeNumber number -> ", " + number.allowed() + ".";
          case QueueSetting.TimeSpan span -> ".";
          case QueueSetting.Choice<?> choice -> ": " + word(choice.allowed()) + ".";
        }
        + " Default: "
        + switch (setting.values()) {
          case QueueSetting.WholeNumber number -> number.initially().toString();
          case QueueSetting.TimeSpan span -> DurationText.readable(span.initially());
          case QueueSetting.Choice<?> choice -> word(choice.initially().name());
        };
  }

  private static String word(String constants) {
    return constants.toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
