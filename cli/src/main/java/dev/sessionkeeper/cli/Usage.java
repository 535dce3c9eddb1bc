package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Shows metered usage, its proof, and the batches that carry it to the receiver. */
@Command(
    name = "usage",
    description = "Metered usage: the proof, and the batches.",
    subcommands = {Usage.Proof.class, Usage.Batches.class, Usage.Replay.class})
final class Usage {

  @Command(
      name = "proof",
      description =
          "Compare active time, ledger, batches and acknowledgements; exit code 1 if they differ.")
  static final class Proof implements Callable<Integer> {
    private static final Table TABLE =
        Table.of(
            "tenantObjectId",
            "activeMicros",
            "pendingMetering",
            "ledger",
            "batches",
            "acknowledged",
            "pending",
            "forgotten",
            "differences");

    @Mixin Remote remote = new Remote();

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var proof = client.get("/usages/proof", Map.of());
        remote.show(proof, "tenants", TABLE, "No usage yet.");
        return isExact(proof) ? Exit.OK : Exit.FAILED;
      }
    }

    private static boolean isExact(JsonNode proof) {
      for (var tenant : proof.path("tenants")) {
        for (var difference : tenant.path("differences")) {
          if (difference.decimalValue().signum() != 0) {
            return false;
          }
        }
      }
      return true;
    }
  }

  @Command(name = "batches", description = "List usage batches and how their delivery stands.")
  static final class Batches implements Callable<Integer> {
    private static final Table TABLE =
        Table.of(
            "batchId", "tenantObjectId", "sequence", "state", "records", "attempts", "lastError");

    @Mixin Remote remote = new Remote();
    @Mixin Paging paging = new Paging();

    @Option(names = "--state", description = "Only those in this state, such as pending or dead")
    @Nullable String state;

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var page =
            client.get(
                "/usages/batches",
                Remote.query("state", state, "limit", paging.limitText(), "cursor", paging.cursor));
        remote.show(page, "batches", TABLE, "No such batches.");
        return Exit.OK;
      }
    }
  }

  @Command(
      name = "replay",
      description = "Send a batch again, with the same key and the same bytes.")
  static final class Replay implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(index = "0", paramLabel = "BATCH")
    String batch = "";

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        remote.tell(
            client.post(
                "/usages/batches/" + KeeperClient.encoded(batch) + "/replay",
                JsonNodeFactory.instance.objectNode()),
            "Batch " + batch + " will be sent again.");
        return Exit.OK;
      }
    }
  }
}
