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

/** Shows metered usage, its proof, and the batches for the receiver. */
@Command(
    name = "usage",
    description = "Show metered usage: its proof and its batches.",
    subcommands = {Usage.Proof.class, Usage.Batches.class, Usage.Replay.class, Usage.Release.class})
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
        var hold = proof.path("hold");
        if (hold.isObject() && remote.format == Remote.Format.text) {
          Terminal.standard().print(held(hold));
        }
        return isExact(proof) ? Exit.OK : Exit.FAILED;
      }
    }

    /** Explains to an operator why metering is held, and what to do. */
    static String held(JsonNode hold) {
      return "Metering is held since %s: %s. Check the clock of the database, then keeper usage release."
          .formatted(hold.path("since").asString(), hold.path("reason").asString());
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

  @Command(name = "batches", description = "List usage batches with the state of their delivery.")
  static final class Batches implements Callable<Integer> {
    private static final Table TABLE =
        Table.of(
            "batchId", "tenantObjectId", "sequence", "state", "records", "attempts", "lastError");

    @Mixin Remote remote = new Remote();
    @Mixin Paging paging = new Paging();

    @Option(names = "--state", description = "Only batches in this state, such as pending or dead")
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

  @Command(
      name = "release",
      description = "Continue metering after the database's clock jumped and was checked.")
  static final class Release implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Mixin Confirm confirm = new Confirm();

    @Override
    public Integer call() {
      if (!confirm.ask("continue metering by the database's present clock")) {
        return Exit.FAILED;
      }
      try (var client = remote.open()) {
        var answer = client.post("/usages/hold/release", JsonNodeFactory.instance.objectNode());
        remote.tell(
            answer,
            answer.path("released").asBoolean()
                ? "Released the hold. Metering continues with its next run."
                : "Metering was not held. Nothing was changed.");
        return Exit.OK;
      }
    }
  }
}
