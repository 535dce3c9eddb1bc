package dev.sessionkeeper.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows the help of a command at any depth, as its {@code --help} does. */
@Command(name = "help", description = "Show the help of a command or subcommand.")
final class ShowHelp implements Callable<Integer> {
  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "Such as: sessions pause")
  List<String> path = List.of();

  @Override
  public Integer call() {
    var line = spec.root().commandLine();
    for (var name : path) {
      line = line.getSubcommands().get(name);
      if (line == null) {
        throw new ParameterException(
            spec.commandLine(), "There is no command '" + String.join(" ", path) + "'");
      }
    }
    line.usage(System.out);
    return Exit.OK;
  }
}
