package dev.sessionkeeper.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Lays out the help: the commands of {@code keeper} in groups, and the options of a command before
 * those that say which server it calls.
 */
final class HelpLayout {
  private static final int WIDTH = 80;
  private static final int NAMES = 23;

  private static final String SERVER_SECTION = "serverOptions";

  /** The options that say which server a command calls. */
  static final Set<String> SERVER =
      Set.of("--url", "--context", "--key", "--key-file", "--ca", "--cert", "--cert-key");

  /** Every command that is not hidden, in the order in which the help shows them. */
  static final Map<String, List<String>> GROUPS = groups();

  private HelpLayout() {}

  private static Map<String, List<String>> groups() {
    var groups = new LinkedHashMap<String, List<String>>();
    groups.put("Start", List.of("serve", "demo", "check", "reload"));
    groups.put("Queues", List.of("queues", "send", "sessions", "dead-letters", "bulk", "top"));
    groups.put("GitHub", List.of("events", "send-github", "listen"));
    groups.put("Usage and jobs", List.of("usage", "receiver", "jobs"));
    groups.put(
        "Operate",
        List.of("doctor", "audit", "keys", "erase-user", "support-bundle", "backup", "restore"));
    groups.put("Try out", List.of("bench", "simulate"));
    groups.put("This command", List.of("context", "generate-completion", "help"));
    return groups;
  }

  /** Returns what stands for the value of an option: {@code FILE}, {@code N}, {@code STATUS}. */
  static String label(ArgSpec argument) {
    var label = argument.paramLabel();
    if (!label.startsWith("<")) {
      return label;
    }
    if (argument.type() == Path.class) {
      return "FILE";
    }
    if (argument.type() == int.class || argument.type() == long.class) {
      return "N";
    }
    return argument instanceof OptionSpec option
        ? option.longestName().replaceFirst("^-*", "").toUpperCase(Locale.ROOT)
        : label;
  }

  /** Lays out the help of a command and of all its subcommands. */
  static void addTo(CommandLine line) {
    var usage = line.getCommandSpec().usageMessage();
    usage.abbreviateSynopsis(true);
    usage.width(WIDTH);
    usage.commandListHeading("%nCommands:%n");
    var sections = line.getHelpSectionMap();
    sections.put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, help -> list(help, own(help)));
    sections.put(UsageMessageSpec.SECTION_KEY_PARAMETER_LIST, HelpLayout::parameters);
    sections.put(SERVER_SECTION, HelpLayout::serverOptions);
    if (line.getParent() == null) {
      usage.commandListHeading("");
      sections.put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, HelpLayout::groupedCommands);
    }
    var keys = new ArrayList<>(line.getHelpSectionKeys());
    keys.remove(SERVER_SECTION);
    keys.add(keys.indexOf(UsageMessageSpec.SECTION_KEY_COMMAND_LIST) + 1, SERVER_SECTION);
    line.setHelpSectionKeys(keys);
    line.getSubcommands().values().forEach(HelpLayout::addTo);
  }

  /** Returns the positional parameters that the synopsis does not describe already. */
  private static String parameters(Help help) {
    var described =
        help.commandSpec().positionalParameters().stream()
            .filter(parameter -> !parameter.hidden() && parameter.description().length > 0)
            .toList();
    var layout = help.createDefaultLayout();
    layout.addPositionalParameters(described, new Labels());
    return layout.toString();
  }

  private static List<OptionSpec> own(Help help) {
    return help.commandSpec().options().stream()
        .filter(option -> !option.hidden() && !isOfServer(help, option))
        .toList();
  }

  /**
   * Returns whether the option names the server to call. {@code context set} has options of the
   * same names, which only store it.
   */
  private static boolean isOfServer(Help help, OptionSpec option) {
    return callsServer(help.commandSpec()) && SERVER.contains(option.longestName());
  }

  static boolean callsServer(CommandSpec command) {
    return command.findOption("--context") != null;
  }

  private static String serverOptions(Help help) {
    var options =
        help.commandSpec().options().stream().filter(option -> isOfServer(help, option)).toList();
    return options.isEmpty() ? "" : "\nThe server to call:\n" + list(help, options);
  }

  private static String list(Help help, List<OptionSpec> options) {
    var sorted = options.stream().sorted(Comparator.comparing(OptionSpec::longestName)).toList();
    var layout = help.createDefaultLayout();
    layout.addOptions(sorted, new Labels());
    return layout.toString();
  }

  /** Renders {@code =FILE} behind the name of an option. */
  private static final class Labels implements Help.IParamLabelRenderer {
    @Override
    public Text renderParameterLabel(
        ArgSpec argument, Help.Ansi ansi, List<Help.Ansi.IStyle> styles) {
      if (argument.arity().max() == 0) {
        return ansi.new Text("");
      }
      var label = (argument.isOption() ? "=" : "") + label(argument);
      return ansi.new Text(argument.splitRegex().isEmpty() ? label : label + ",…");
    }

    @Override
    public String separator() {
      return "=";
    }
  }

  private static String groupedCommands(Help help) {
    var text = new StringBuilder();
    GROUPS.forEach(
        (title, names) -> {
          text.append('\n').append(title).append('\n');
          names.forEach(name -> text.append(command(help, name)));
        });
    return text.toString();
  }

  private static String command(Help help, String name) {
    var command = Optional.ofNullable(help.commandSpec().subcommands().get(name)).orElseThrow();
    var description = command.getCommandSpec().usageMessage().description()[0];
    var lines = wrapped(description);
    var first = "  " + help.colorScheme().commandText(name) + " ".repeat(NAMES - 2 - name.length());
    return first + String.join("\n" + " ".repeat(NAMES), lines) + "\n";
  }

  private static List<String> wrapped(String text) {
    return Arrays.asList(
        text.replaceAll("(.{1," + (WIDTH - NAMES) + "})(?:\\s+|$)", "$1\n")
            .strip()
            .split("\n", -1));
  }
}
