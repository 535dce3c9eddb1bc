package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Queues are deleted and purged, and dead letters read one by one, over PostgreSQL. */
class RemovalTest {
  private static TestServer server;

  @BeforeAll
  static void start() throws Exception {
    server =
        TestServer.start(
            """
            github: { secrets: [ "s" ] }
            bots: [ { name: robot, events: ["*"], ordering_scope: entity } ]
            """,
            TestDatabase.create().environment());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void declare() {
    server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
    server.post("/queues/q/purge", "{\"confirm\":\"q\"}");
    server.post("/queues/q/purge", "{\"confirm\":\"q\",\"part\":\"deadLetters\"}");
    send("a", "b");
  }

  private static void send(String... sessions) {
    for (var session : sessions) {
      var message = "{\"sessionId\":\"%s\",\"body\":{\"n\":1}}".formatted(session);
      server.post("/queues/q/messages", "{\"messages\":[" + message + "]}");
    }
  }

  @Test
  void aDeletionNeedsTheNameOfTheQueueOnceMore() {
    for (var slip : new String[] {"", "?confirm=", "?confirm=other"}) {
      var refused = server.delete("/queues/q" + slip);
      assertThat(refused.status()).as(slip).isEqualTo(400);
      assertThat(refused.json().get("errors").findValuesAsString("field"))
          .containsExactly("confirm");
    }
    assertThat(server.get("/queues/q").json().get("depth").asInt()).isEqualTo(2);

    assertThat(server.delete("/queues/q?confirm=q").status()).isEqualTo(204);

    assertThat(server.get("/queues/q").problem()).isEqualTo("unknown-queue");
    assertThat(server.delete("/queues/q?confirm=q").problem()).isEqualTo("unknown-queue");
    assertThat(server.post("/queues/q/leases", "{}").problem()).isEqualTo("unknown-queue");
    assertThat(server.get("/audit?limit=5").body()).contains("queue.delete");
  }

  @Test
  void aQueueOfABotIsNotDeleted() {
    var refused = server.delete("/queues/robot?confirm=robot");

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.json().get("detail").asString()).contains("belongs to bot robot");
  }

  @Test
  void aPurgeTellsHowManyMessagesItDeletedAndTakesLeases() {
    var lease = server.post("/queues/q/leases", "{\"sessionId\":\"a\"}").json().get("leaseId");
    assertThat(server.post("/queues/q/purge", "{}").status()).isEqualTo(400);
    assertThat(server.post("/queues/q/purge", "{\"confirm\":\"Q\"}").status()).isEqualTo(400);

    var purged = server.post("/queues/q/purge", "{\"confirm\":\"q\"}");

    assertThat(purged.status()).isEqualTo(200);
    assertThat(purged.json().get("purged").asLong()).isEqualTo(2);
    assertThat(server.get("/queues/q").json().get("depth").asInt()).isZero();
    assertThat(
            server
                .send("POST", "/queues/q/leases/" + lease.asString() + "/renew", Optional.of("{}"))
                .problem())
        .isEqualTo("session-lock-lost");
    assertThat(server.get("/audit?limit=5").body()).contains("queue.purge");
  }

  @Test
  void aDeadLetterIsShownWithItsBodyAndLastErrorAndDiscarded() {
    server.post(
        "/queues/q/sessions/actions",
        "{\"sessionId\":\"a\",\"action\":\"deadLetterHead\",\"reason\":\"broken\"}");
    var id =
        server.get("/queues/q/dead-letters").json().get("deadLetters").get(0).get("id").asString();

    var shown = server.get("/queues/q/dead-letters/" + id).json();
    assertThat(shown.get("body").get("n").asInt()).isEqualTo(1);
    assertThat(shown.get("reason").asString()).isEqualTo("broken");
    assertThat(shown.has("lastError")).isTrue();
    assertThat(server.get("/queues/q/dead-letters/999999999").problem()).isEqualTo("not-found");
    assertThat(server.get("/queues/q/dead-letters/x").problem()).isEqualTo("not-found");

    assertThat(server.delete("/queues/q/dead-letters/" + id).status()).isEqualTo(204);
    assertThat(server.get("/queues/q/dead-letters/" + id).problem()).isEqualTo("not-found");
  }
}
