package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Shows the queues in the terminal, refreshed regularly. */
@Command(name = "top", description = "Watch the queues (rates, depth, age) until Ctrl-C.")
final class Top implements Callable<Integer> {
  private static final Duration EVERY = Duration.ofSeconds(2);
  private static final Table TABLE =
      Table.of("queue", "depth", "in", "out", "oldestAge", "held", "parked", "paused", "dead");

  @Mixin Remote remote = new Remote();

  @Option(names = "--once", description = "Show the queues once and end")
  boolean once;

  @Override
  public Integer call() throws InterruptedException {
    var terminal = Terminal.standard();
    try (var client = remote.open()) {
      if (once || !terminal.isInteractive() || remote.format == Remote.Format.json) {
        remote.show(look(client), "queues", TABLE, "No queues.");
        return Exit.OK;
      }
      while (true) {
        var now = look(client);
        terminal.draw(now.path("at").asString("") + "\n" + TABLE.render(now.path("queues")), true);
        Thread.sleep(EVERY);
      }
    }
  }

  private static JsonNode look(KeeperClient client) {
    return client.get("/samples/queues", Map.of());
  }
}
