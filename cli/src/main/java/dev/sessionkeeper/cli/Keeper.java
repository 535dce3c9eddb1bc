package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.ProblemException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import picocli.AutoComplete;
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
      Events.class,
      SendGitHub.class,
      Listen.class,
      Jobs.class,
      Usage.class,
      Receiver.class,
      Bench.class,
      Simulate.class,
      Doctor.class,
      AutoComplete.GenerateCompletion.class,
      ShowHelp.class
    })
public final class Keeper {
  private Keeper() {}

  public static void main(String[] args) {
    System.exit(run(args));
  }

  static int run(String... args) {
    return commandLine()
        .setExecutionExceptionHandler((failure, line, parsed) -> explain(failure))
        .execute(args);
  }

  /** All commands with their options, help and examples. */
  static CommandLine commandLine() {
    var line = new CommandLine(new Keeper()).setCaseInsensitiveEnumValuesAllowed(true);
    Examples.addTo(line);
    return line;
  }

  /** One sentence to the person, and the exit code; never a stack trace. */
  private static int explain(Exception failure) {
    var terminal = Terminal.standard();
    var why = String.valueOf(failure.getMessage()).replaceFirst("^\\[SK-\\d+] ", "");
    return switch (failure) {
      case ProblemException problem -> {
        terminal.error(why);
        yield problem.status() == 401 || problem.status() == 403 ? Exit.FORBIDDEN : Exit.FAILED;
      }
      case KeeperException.Unavailable unavailable -> {
        terminal.error(ExplainConnection.of(unavailable));
        yield Exit.UNAVAILABLE;
      }
      case KeeperException.OutcomeUnknown unknown -> {
        terminal.error(ExplainConnection.of(unknown));
        yield Exit.UNAVAILABLE;
      }
      case KeeperException.Misconfigured misconfigured -> {
        terminal.error(why);
        yield Exit.CONFIG;
      }
      case IllegalArgumentException wrong -> {
        terminal.error(why);
        yield Exit.USAGE;
      }
      case IOException unreadable -> {
        terminal.error(unreadable instanceof NoSuchFileException ? "There is no file " + why : why);
        yield Exit.FAILED;
      }
      default -> {
        terminal.error(failure.getClass().getSimpleName() + ": " + why);
        yield Exit.FAILED;
      }
    };
  }
}
