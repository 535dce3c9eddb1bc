package dev.sessionkeeper.cli;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes the reference page of the command line, from the commands themselves. */
public final class DescribeCommands {
  private static final java.util.Set<String> CONNECTION =
      java.util.Set.of(
          "--url", "--context", "--key", "--key-file", "--ca", "--cert", "--cert-key", "--output");

  private final StringBuilder text = new StringBuilder();

  private DescribeCommands() {}

  public static String page() {
    var page = new DescribeCommands();
    var keeper = Keeper.commandLine();
    page.text.append(
        """
        # Command line

        `./keeper COMMAND` in a clone. `--help` after any command shows its options and an example. Results go to standard output, everything
        else to standard error. Colours and progress appear on a terminal only, and not if `NO_COLOR` is set.

        """);
    page.options(keeper);
    page.exitCodes(keeper);
    keeper.getSubcommands().values().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .distinct()
        .forEach(command -> page.command(command, 2));
    return page.text.toString();
  }

  private void options(CommandLine keeper) {
    text.append("## Options of every command that calls a server\n\n");
    text.append("| option | meaning |\n|---|---|\n");
    keeper.getSubcommands().get("send").getCommandSpec().options().stream()
        .filter(DescribeCommands::isConnection)
        .forEach(this::row);
  }

  private void exitCodes(CommandLine keeper) {
    text.append("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    keeper
        .getCommandSpec()
        .usageMessage()
        .exitCodeList()
        .forEach((code, meaning) -> text.append("| %s | %s |%n".formatted(code, meaning)));
  }

  private void command(CommandLine command, int level) {
    var spec = command.getCommandSpec();
    var name = spec.qualifiedName().replaceFirst("^keeper ", "");
    text.append('\n').append("#".repeat(level)).append(' ').append(name).append("\n\n");
    text.append(String.join(" ", spec.usageMessage().description())).append('\n');
    arguments(spec);
    example(spec);
    command.getSubcommands().values().stream()
        .distinct()
        .forEach(subcommand -> command(subcommand, Math.min(level + 1, 4)));
  }

  private void arguments(CommandSpec spec) {
    var options =
        spec.options().stream()
            .filter(option -> !isConnection(option) && !option.usageHelp() && !option.hidden())
            .toList();
    if (options.isEmpty() && spec.positionalParameters().isEmpty()) {
      return;
    }
    text.append("\n| argument | meaning |\n|---|---|\n");
    for (var positional : spec.positionalParameters()) {
      text.append(
          "| `%s` | %s |%n"
              .formatted(positional.paramLabel(), orRequired(positional, description(positional))));
    }
    options.forEach(this::row);
  }

  private void row(OptionSpec option) {
    var names = Arrays.stream(option.names()).collect(Collectors.joining("`, `", "`", "`"));
    var label = option.arity().max() == 0 ? "" : " " + HelpLayout.label(option);
    text.append("| %s%s | %s |%n".formatted(names, label, orRequired(option, description(option))));
  }

  private static String orRequired(ArgSpec argument, String description) {
    return argument.required() ? ("Required. " + description).strip() : description;
  }

  private static String description(ArgSpec argument) {
    var initial = String.valueOf(argument.defaultValue());
    return String.join(" ", argument.description())
        .replace("${DEFAULT-VALUE}", initial)
        .replace("|", "\\|");
  }

  private void example(CommandSpec spec) {
    var footer =
        Arrays.stream(spec.usageMessage().footer())
            .map(line -> line.replaceAll("@\\|\\w+ (.*?)\\|@", "$1").strip())
            .filter(line -> line.startsWith("keeper "))
            .collect(Collectors.joining("\n"));
    if (!footer.isEmpty()) {
      text.append("\n```text\n").append(footer).append("\n```\n");
    }
  }

  private static boolean isConnection(OptionSpec option) {
    return CONNECTION.contains(option.longestName());
  }

  /** Returns why the command line refuses these arguments; blank if it accepts them. */
  public static String complaint(String... arguments) {
    try {
      Keeper.commandLine().parseArgs(arguments);
      return "";
    } catch (picocli.CommandLine.ParameterException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
