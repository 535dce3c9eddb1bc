package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The cloud that carries the queues is away: webhooks are accepted, and delivered when it is back.
 */
@Timeout(150)
class CloudAwayTest {
  private static final String BOT = "bots: [ { name: triage, events: [\"pull_request\"] } ]\n";

  @Test
  void aServerStartsWhileItsQueuesAreAwayAndGoesOnWhenTheyAreBack() throws Exception {
    try (var queues = CloudQueues.sqs(Duration.ofSeconds(30))) {
      var wire = ((CloudQueues.Sqs) queues).wire();
      wire.down(true);
      try (var server = GatewayServer.start(queues.yaml() + BOT)) {
        var event = pull("acme/app", 1, 0);
        var taken = server.deliver("pull_request", UUID.randomUUID().toString(), event);
        assertThat(taken.status()).isEqualTo(202);

        var refused = server.post("/queues/triage/leases", "{}");
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.json().get("type").asString()).endsWith("/unavailable");
        await().atMost(Duration.ofSeconds(60)).until(() -> !check(server, "queues").equals("up"));
        var ready = server.get("/health/ready");
        assertThat(ready.status()).isEqualTo(200);
        assertThat(ready.json().get("checks").get("store").asString()).isEqualTo("up");

        wire.down(false);
        await()
            .atMost(Duration.ofSeconds(90))
            .until(() -> server.post("/queues/triage/leases", "{}").status() == 201);
        await().atMost(Duration.ofSeconds(60)).until(() -> check(server, "queues").equals("up"));
        assertThat(check(server, "bots")).isEqualTo("up");
      }
    }
  }

  /** Returns {@code up}, or what is wrong with this part of the server. */
  private static String check(GatewayServer server, String part) {
    return server.get("/health/ready").json().get("checks").path(part).asString("up");
  }
}
