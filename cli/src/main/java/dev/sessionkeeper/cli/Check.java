package dev.sessionkeeper.cli;

import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.config.KeeperConfig;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Reads a configuration as the server would, without starting it. */
@Command(
    name = "check",
    description =
        "List all that is wrong in a configuration, each with line and column; exit code 78 if anything is.")
final class Check implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "FILE")
  Path file = Path.of("keeper.yaml");

  @Override
  public Integer call() {
    var terminal = Terminal.standard();
    try {
      var config =
          KeeperConfig.read(ConfigSources.of(Optional.of(file), System.getenv(), Map.of()));
      config.warnings().forEach(warning -> terminal.note("Warning: " + warning));
      terminal.print(file + " is valid.");
      return Exit.OK;
    } catch (InvalidConfig e) {
      e.errors().forEach(error -> terminal.note(error.toString()));
      terminal.error(file + " is not valid: " + e.errors().size() + " wrong.");
      return Exit.CONFIG;
    }
  }
}
