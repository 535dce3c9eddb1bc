package dev.sessionkeeper.cli;

import java.time.Duration;
import java.util.function.Supplier;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Refreshes a list until the user ends the command. */
final class Watch {
  private static final Duration EVERY = Duration.ofSeconds(2);

  @Option(
      names = {"-w", "--watch"},
      description = "Refresh every two seconds until Ctrl-C. Needs a terminal")
  boolean watch;

  /** Shows the list once, or refreshed regularly. */
  int show(Remote remote, Supplier<JsonNode> look, String items, Table table, String whenEmpty) {
    var terminal = Terminal.standard();
    if (!watch) {
      remote.show(look.get(), items, table, whenEmpty);
      return Exit.OK;
    }
    if (!terminal.isInteractive() || remote.format == Remote.Format.json) {
      throw new IllegalArgumentException("--watch needs a terminal, and excludes -o json");
    }
    while (true) {
      var list = look.get().path(items);
      terminal.draw(list.isEmpty() ? whenEmpty : table.render(list), true);
      try {
        Thread.sleep(EVERY);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return Exit.OK;
      }
    }
  }
}
