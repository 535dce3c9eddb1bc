package dev.sessionkeeper.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point of the command line. */
@Command(
    name = "keeper",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    description = "Everything about one thing, in order, by one owner at a time.",
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:the server refused, or something was found wrong",
      "2:the command line is wrong",
      "69:the server does not answer, or something needed is missing",
      "77:the credential is missing or does not suffice",
      "78:the configuration is wrong"
    },
    subcommands = {
      ServeCommand.class,
      DemoCommand.class,
      Check.class,
      ReloadCommand.class,
      Queues.class,
      Send.class,
      Sessions.class,
      DeadLetters.class,
      Bulk.class,
      Events.class,
      SendGitHub.class,
      Listen.class,
      Jobs.class,
      Usage.class,
      Audit.class,
      Keys.class,
      EraseUserCommand.class,
      Top.class,
      Receiver.class,
      Bench.class,
      Simulate.class,
      Doctor.class,
      SupportBundle.class,
      Backup.class,
      Restore.class,
      ContextCommand.class,
      Completion.class,
      Completion.QueueNames.class,
      ManPage.class,
      ShowHelp.class
    })
public final class Keeper {
  private Keeper() {}

  public static void main(String[] args) {
    System.exit(run(args));
  }

  /** Returns how a user calls the command here; the launcher of a package sets {@code keeper}. */
  static String command() {
    return System.getProperty("sessionkeeper.command", "./keeper");
  }

  static int run(String... args) {
    boolean isForProgram = ExplainFailure.isForProgram(args);
    var line = commandLine();
    return line.setExecutionExceptionHandler(
            (failure, command, parsed) ->
                ExplainFailure.of(failure)
                    .of(Remote.find(command.getCommandSpec()).flatMap(Remote::chosenBy))
                    .tell(Terminal.standard(), isForProgram))
        .setParameterExceptionHandler(
            (wrong, given) -> ExplainUsage.of(wrong).tell(Terminal.standard(), isForProgram))
        .execute(args);
  }

  /** Returns all commands with their options, help and examples. */
  static CommandLine commandLine() {
    var line = new CommandLine(new Keeper()).setCaseInsensitiveEnumValuesAllowed(true);
    line.setColorScheme(
        CommandLine.Help.defaultColorScheme(
            Terminal.standard().isInteractive()
                ? CommandLine.Help.Ansi.ON
                : CommandLine.Help.Ansi.OFF));
    Examples.addTo(line);
    HelpLayout.addTo(line);
    return line;
  }
}
