package dev.sessionkeeper.cli;

import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** Writes the manual page of the command, for packages. */
@Command(name = "man-page", hidden = true, description = "Write keeper(1) for man.")
final class ManPage implements Callable<Integer> {
  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    Terminal.standard().print(of(spec.root().commandLine()));
    return Exit.OK;
  }

  static String of(CommandLine keeper) {
    var page = new StringBuilder(".TH KEEPER 1 \"\" \"Sessionkeeper\"\n.SH NAME\nkeeper \\- ");
    page.append(text(String.join(" ", keeper.getCommandSpec().usageMessage().description())));
    page.append("\n.SH SYNOPSIS\n.B keeper\n.I COMMAND\n[options]\n");
    Optional.ofNullable(keeper.getSubcommands().get("send"))
        .ifPresent(send -> serverOptions(page, send.getCommandSpec()));
    page.append(".SH COMMANDS\n");
    keeper.getSubcommands().values().stream()
        .distinct()
        .forEach(command -> append(page, command, "keeper"));
    page.append(".SH EXIT STATUS\n");
    keeper
        .getCommandSpec()
        .usageMessage()
        .exitCodeList()
        .forEach((code, meaning) -> item(page, code.strip(), meaning));
    page.append(
        ".SH ENVIRONMENT\n.B KEEPER_URL, KEEPER_API_KEY, KEEPER_CONTEXT, KEEPER_CA, KEEPER_CERT,"
            + " KEEPER_CERT_KEY\nare the defaults of the options of the same name.\n");
    item(page, "KEEPER_SERVER_PORT, …", "Any key of the configuration, for keeper serve.");
    item(page, "KEEPER_JAVA_OPTS", "Options of the Java runtime, such as -Xmx2g.");
    item(page, "KEEPER_LOG_LEVEL, KEEPER_LOG_FORMAT", "DEBUG, INFO, WARN or ERROR; TEXT or JSON.");
    item(page, "NO_COLOR", "If set, no colours and no redrawn lines.");
    page.append(".SH FILES\n");
    item(page, "~/.config/keeper/contexts.json", "Named servers; see keeper context.");
    item(page, "/etc/keeper/keeper.yaml", "The configuration of the packaged server.");
    return page.toString().stripTrailing();
  }

  private static void append(StringBuilder page, CommandLine command, String path) {
    var spec = command.getCommandSpec();
    if (spec.usageMessage().hidden()) {
      return;
    }
    var name = path + " " + spec.name();
    page.append(".SS ").append(text(name));
    spec.positionalParameters()
        .forEach(
            given ->
                page.append(' ')
                    .append(
                        given.required() ? given.paramLabel() : "[" + given.paramLabel() + "]"));
    page.append('\n');
    for (var sentence : spec.usageMessage().description()) {
      page.append(text(sentence)).append("\n");
    }
    spec.positionalParameters().stream()
        .filter(given -> given.description().length > 0)
        .forEach(given -> item(page, given.paramLabel(), sentence(given)));
    boolean callsServer = HelpLayout.callsServer(spec);
    spec.options().stream()
        .filter(option -> !option.hidden() && !option.usageHelp())
        .filter(option -> !callsServer || !HelpLayout.SERVER.contains(option.longestName()))
        .forEach(option -> item(page, names(option), sentence(option)));
    Examples.of(spec)
        .ifPresent(
            example -> page.append(".PP\nExample:\n.EX\n").append(text(example)).append("\n.EE\n"));
    command.getSubcommands().values().stream().distinct().forEach(sub -> append(page, sub, name));
  }

  /** Describes once what most commands take. */
  private static void serverOptions(StringBuilder page, CommandSpec spec) {
    page.append(".SH OPTIONS\nEvery command takes\n.BR \\-h ,\n.BR \\-\\-help .\n");
    page.append("Every command that calls a server takes:\n");
    spec.options().stream()
        .filter(option -> HelpLayout.SERVER.contains(option.longestName()))
        .forEach(option -> item(page, names(option), sentence(option)));
  }

  private static String names(OptionSpec option) {
    var names = String.join(", ", option.names());
    return option.arity().max() == 0 ? names : names + "=" + HelpLayout.label(option);
  }

  private static void item(StringBuilder page, String name, String meaning) {
    page.append(".TP\n.B ").append(text(name)).append('\n').append(text(meaning)).append('\n');
  }

  private static String sentence(ArgSpec given) {
    var words = String.join(" ", given.description());
    var usual = given.defaultValue();
    return words.isEmpty() ? "Required." : words.replace("${DEFAULT-VALUE}", String.valueOf(usual));
  }

  /** troff would interpret a dot or quote at the beginning of a line. */
  private static String text(String words) {
    var safe = words.replace("\\", "\\e").replace("-", "\\-").replace("%n", " ").strip();
    return safe.startsWith(".") || safe.startsWith("'") ? "\\&" + safe : safe;
  }
}
