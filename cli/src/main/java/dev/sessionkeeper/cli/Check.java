package dev.sessionkeeper.cli;

import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.TryStore;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.StoreConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reads a configuration as the server would, without starting it. */
@Command(
    name = "check",
    description =
        "List every error in a configuration, with line and column; exit code 78 if there is one.")
final class Check implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "FILE")
  Path file = Path.of("keeper.yaml");

  @Option(
      names = {"-o", "--output"},
      defaultValue = "text",
      description = "text or json. Default: text")
  Remote.Format format = Remote.Format.text;

  @Option(
      names = "--connect",
      description = "Also connect to the database of store.url; nothing is changed in it")
  boolean connect;

  @Override
  public Integer call() {
    var terminal = Terminal.standard();
    try {
      var config = ReadConfig.from(ConfigSources.of(Optional.of(file), System.getenv(), Map.of()));
      if (format == Remote.Format.json) {
        terminal.print(json(List.of(), config.warnings()));
      } else {
        config.warnings().forEach(warning -> terminal.note("Warning: " + warning));
        terminal.print(file + " is valid.");
      }
      return connect ? tryStore(config, terminal) : Exit.OK;
    } catch (InvalidConfig e) {
      if (format == Remote.Format.json) {
        terminal.print(json(e.errors(), List.of()));
      } else {
        e.errors().forEach(error -> terminal.note(error.toString()));
        int count = e.errors().size();
        terminal.error((count == 1 ? "1 error" : count + " errors") + " found in " + file + ".");
      }
      return Exit.CONFIG;
    }
  }

  private static int tryStore(KeeperConfig config, Terminal terminal) {
    var trouble = TryStore.trouble(config.get(StoreConfig.SECTION));
    trouble.ifPresent(terminal::error);
    return trouble.isPresent() ? Exit.UNAVAILABLE : Exit.OK;
  }

  private String json(List<ConfigError> errors, List<String> warnings) {
    var node = JsonNodeFactory.instance.objectNode();
    node.put("file", file.toString());
    node.put("valid", errors.isEmpty());
    var wrong = node.putArray("errors");
    for (var error : errors) {
      wrong
          .addObject()
          .put("where", error.where())
          .put("key", error.key())
          .put("reason", error.reason());
    }
    var warned = node.putArray("warnings");
    warnings.forEach(warned::add);
    return node.toPrettyString();
  }
}
