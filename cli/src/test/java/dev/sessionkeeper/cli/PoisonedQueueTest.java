package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** An operator with the command line alone finds, understands, repairs, replays and resumes. */
@Tag("slow")
class PoisonedQueueTest {
  @TempDir static Path data;
  private static KeeperServer server;

  @BeforeAll
  static void start() {
    var sources =
        ConfigSources.of(
            Optional.empty(),
            Map.of(),
            Map.of(
                "server.port",
                "0",
                "store.url",
                "embedded",
                "store.data",
                data.toString(),
                "jobs.poll",
                "100ms"));
    server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Ran keeper(String... args) {
    var all = new java.util.ArrayList<>(java.util.List.of(args));
    all.add("--url");
    all.add(server.address());
    return Ran.keeper(all.toArray(String[]::new));
  }

  private static void poison(String queue, String session) {
    var created =
        keeper(
            "queues",
            "create",
            queue,
            "--max-delivery-count",
            "1",
            "--poison-policy",
            "park-session");
    assertThat(created.code()).as(created.err()).isZero();
    keeper("send", queue, "-s", session, "{\"amount\":\"12,50\"}", "{\"amount\":13.5}");
    try (var client = KeeperClient.of(URI.create(server.address()))) {
      var nodes = JsonNodeFactory.instance;
      var path = "/queues/" + queue + "/leases";
      var lease =
          client.post(path, nodes.objectNode().put("sessionId", session).put("wait", "PT10S"));
      var held = path + "/" + lease.path("leaseId").asString();
      var sequence =
          client
              .get(held + "/messages", Map.of("max", "1"))
              .path("messages")
              .get(0)
              .path("sequence");
      var wish = nodes.objectNode();
      wish.putArray("settlements")
          .addObject()
          .put("action", "retry")
          .put("delay", "PT0S")
          .put("reason", "NumberFormatException: 12,50")
          .set("sequence", sequence);
      client.post(held + "/settlements", wish);
      client.delete(held);
    }
  }

  @Test
  void aPoisonedSessionMovesAgain() {
    poison("orders", "cust-42");

    var found = keeper("sessions", "orders", "--status", "attention");
    assertThat(found.out()).contains("cust-42", "parked");
    var why = keeper("sessions", "show", "orders", "cust-42");
    assertThat(why.out())
        .contains("cust-42 is parked, backlog 2", "NumberFormatException: 12,50", "failed");
    assertThat(
            keeper("sessions", "show", "orders", "cust-42", "-o", "json")
                .json()
                .path("why")
                .asString())
        .contains("1 message waits behind it");

    keeper("sessions", "dead-letter-head", "orders", "cust-42", "-r", "a comma");
    var causes = keeper("dead-letters", "causes", "orders");
    assertThat(causes.out()).contains("NumberFormatException: 12,50");
    var id =
        keeper("dead-letters", "list", "orders", "-o", "json")
            .json()
            .path("deadLetters")
            .get(0)
            .path("id")
            .asString();
    assertThat(keeper("dead-letters", "repair", "orders", id).code()).isEqualTo(Exit.USAGE);
    var repaired =
        keeper(
            "dead-letters",
            "repair",
            "orders",
            id,
            "--body",
            "{\"amount\":12.5}",
            "-r",
            "a point",
            "--replay");
    assertThat(repaired.out()).as(repaired.err()).contains("put it back into its session");
    assertThat(keeper("audit", "--action", "dead-letters.replay", "-o", "json").out())
        .contains("\"target\" : \"orders/cust-42\"", "a point");
    assertThat(keeper("sessions", "resume", "orders", "cust-42").code()).isZero();

    assertThat(
            keeper("sessions", "show", "orders", "cust-42", "-o", "json")
                .json()
                .path("status")
                .asString())
        .isEqualTo("ready");
    var audit = keeper("audit", "--target", "orders/cust-42");
    assertThat(audit.out()).contains("session.deadLetterHead", "a comma", "session.resume");
    assertThat(
            keeper("audit", "--action", "dead-letters.repair", "-o", "json")
                .json()
                .path("entries")
                .size())
        .isEqualTo(1);
    assertThat(keeper("audit", "--actor", "nobody").out()).contains("No entry.");
  }

  @Test
  void manyAreCountedFirstAndThenDoneInTheBackground() {
    poison("mails", "user-1");
    poison("mails", "user-2");

    var counted = keeper("bulk", "resume", "mails", "--status", "parked");
    assertThat(counted.out()).contains("Would resume 2", "add --reason to do it", "user-1");
    assertThat(keeper("sessions", "mails", "--status", "parked").out())
        .contains("user-1", "user-2");
    var done =
        keeper("bulk", "resume", "mails", "--status", "parked", "-r", "fixed in 1.2", "--wait");
    assertThat(done.code()).as(done.err()).isZero();
    assertThat(done.out()).contains("The run is finished: 2 of 2 looked at, 2 changed.");
    assertThat(keeper("sessions", "mails", "--status", "attention").out()).doesNotContain("user-1");

    var runs = keeper("bulk", "list", "-o", "json").json().path("runs");
    var id = runs.get(0).path("id").asString();
    assertThat(keeper("bulk", "show", id).out())
        .contains("finished", "fixed in 1.2", "resume on mails, filter {\"status\":\"parked\"}");
    assertThat(keeper("bulk", "stop", id).out()).contains("The run is finished");
    assertThat(keeper("bulk", "show", "00000000-0000-4000-8000-000000000000").code())
        .isEqualTo(Exit.FAILED);
  }

  @Test
  void deadLettersAreListedInBothDirections() {
    poison("mails", "user-1");
    poison("mails", "user-2");
    for (var session : new String[] {"user-1", "user-2"}) {
      keeper("sessions", "dead-letter-head", "mails", session, "-r", "x");
    }
    assertThat(keeper("dead-letters", "list", "mails", "--order", "newest").out())
        .containsSubsequence("user-2", "user-1");
    assertThat(keeper("dead-letters", "list", "mails", "--order", "oldest").out())
        .containsSubsequence("user-1", "user-2");
    assertThat(keeper("dead-letters", "list", "mails", "--order", "loudest").code())
        .isEqualTo(Exit.USAGE);
  }

  @Test
  void topShowsTheQueuesOnceWithoutATerminal() {
    keeper("queues", "create", "pictures");
    org.awaitility.Awaitility.await()
        .until(() -> keeper("top", "--once").out().contains("pictures"));
    assertThat(keeper("top").out()).contains("QUEUE", "DEPTH", "PARKED", "pictures");
    assertThat(
            keeper("top", "-o", "json")
                .json()
                .path("queues")
                .valueStream()
                .map(q -> q.path("queue").asString()))
        .contains("pictures");
  }
}
