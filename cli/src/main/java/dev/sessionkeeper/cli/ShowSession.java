package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Shows one session: why it does not move, and its history. */
@Command(name = "show", description = "Show one session: why it does not move, and its history.")
final class ShowSession implements Callable<Integer> {
  private static final Table MOMENTS = Table.of("at", "kind", "text");

  @Mixin Remote remote = new Remote();

  @Parameters(index = "0", paramLabel = "QUEUE")
  String queue = "";

  @Parameters(index = "1", paramLabel = "SESSION")
  String session = "";

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      var path = "/queues/" + KeeperClient.encoded(queue) + "/session";
      var query = Map.of("sessionId", session);
      var shown = client.get(path, query);
      remote.tell(shown, sentence(shown));
      if (remote.format == Remote.Format.text) {
        remote.show(
            client.get(path + "/timeline", query),
            "moments",
            MOMENTS,
            "There is no history of it.");
      }
      return Exit.OK;
    }
  }

  private static String sentence(JsonNode shown) {
    if (shown.path("status").asString().equals("finished")) {
      return shown.path("why").asString() + "\n";
    }
    return shown.path("sessionId").asString()
        + " is "
        + shown.path("status").asString()
        + ", backlog "
        + shown.path("backlog").asString()
        + "\n"
        + shown.path("why").asString()
        + "\n";
  }
}
