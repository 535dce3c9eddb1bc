package dev.sessionkeeper.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;

/** Lists queues, shows one, or creates one. */
@Command(
    name = "queues",
    description = "List queues with depth, ready, in flight, dead and oldest age; or create one.",
    subcommands = {Queues.Create.class, Queues.Show.class})
final class Queues implements Callable<Integer> {
  static final Table TABLE =
      Table.of("name", "mode", "depth", "ready", "inFlight", "dead", "oldestAge");

  @Mixin Remote remote = new Remote();
  @Mixin Paging paging = new Paging();

  @Override
  public Integer call() {
    try (var client = remote.open()) {
      var page =
          client.get("/queues", Remote.query("limit", paging.limitText(), "cursor", paging.cursor));
      remote.show(page, "queues", TABLE, "No queues yet. Create one: keeper queues create orders");
      return Exit.OK;
    }
  }

  @Command(name = "show", description = "Show one queue with its settings.")
  static final class Show implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var found = client.queue(queue).describe();
        remote.tell(found, TABLE.render(java.util.List.of(found)));
        return Exit.OK;
      }
    }
  }

  @Command(name = "create", description = "Create a queue; the same again changes nothing.")
  static final class Create implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "QUEUE")
    String queue = "";

    @Option(
        names = "--mode",
        defaultValue = "ORDERED",
        description = "ORDERED or UNORDERED. Default: ${DEFAULT-VALUE}")
    String mode = "ORDERED";

    @Option(names = "--max-delivery-count", description = "Attempts before the poison policy")
    @Nullable Integer maxDeliveryCount;

    @Option(names = "--lock-duration", description = "Such as 60s or PT1M")
    @Nullable String lockDuration;

    @Option(names = "--poison-policy", description = "DEAD_LETTER, PARK_SESSION, BLOCK or STOP")
    @Nullable String poisonPolicy;

    @Override
    public Integer call() {
      var body = JsonNodeFactory.instance.objectNode().put("mode", mode);
      if (maxDeliveryCount != null) {
        body.put("maxDeliveryCount", maxDeliveryCount);
      }
      if (lockDuration != null) {
        body.put("lockDuration", lockDuration);
      }
      if (poisonPolicy != null) {
        body.put("poisonPolicy", poisonPolicy);
      }
      try (var client = remote.open()) {
        remote.tell(client.put("/queues/" + queue, body), "Queue " + queue + " is there.");
        return Exit.OK;
      }
    }
  }
}
