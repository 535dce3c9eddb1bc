package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The limits of a bot also apply to consumers that pull, over all servers. */
class PullLimitsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static String bot(String limits) {
    return "bots:\n  - { name: pulls, events: [\"pull_request\"], " + limits + " }\n";
  }

  private static GatewayServer.Reply lease(GatewayServer server, String wish) {
    return server.post("/queues/pulls/leases", wish);
  }

  private static String path(GatewayServer.Reply lease) {
    return "/queues/pulls/leases/" + lease.json().get("leaseId").asString();
  }

  private static String metric(GatewayServer server, String name) {
    return server
        .get("/metrics")
        .text()
        .lines()
        .filter(line -> line.startsWith(name))
        .findFirst()
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .orElse("missing");
  }

  @Test
  void noMoreSessionsAreHeldThanTheBotAllowsWhicheverServerIsAsked() {
    try (var one = GatewayServer.start(bot("max_concurrent_sessions: 1"));
        var two = one.another()) {
      for (int number = 1; number <= 3; number++) {
        one.deliver("pull_request", pull("acme/app", number, 0));
      }
      var held = lease(one, "{}");
      assertThat(held.status()).isEqualTo(201);
      for (var server : new GatewayServer[] {one, two}) {
        assertThat(lease(server, "{}").status()).isEqualTo(204);
        var chosen = lease(server, "{\"sessionId\":\"acme/app/pull_request/3\"}");
        assertThat(chosen.status()).isEqualTo(409);
        assertThat(chosen.json().get("type").asString()).endsWith("/session-limit-reached");
        assertThat(chosen.json().get("limit").asString()).isEqualTo("max_concurrent_sessions");
        assertThat(metric(server, "keeper_active_sessions{bot_name=\"pulls\"")).isEqualTo("1.0");
        assertThat(metric(server, "keeper_concurrent_session_utilization{bot_name=\"pulls\""))
            .isEqualTo("1.0");
      }
      var shown = two.get("/queues/pulls/sessions?status=held").json().get("sessions");
      assertThat(Instant.parse(shown.get(0).get("heldSince").asString()))
          .isBefore(Instant.parse(shown.get(0).get("lockedUntil").asString()));
      one.send(one.request(path(held)).DELETE());
      assertThat(lease(two, "{\"wait\":\"PT5S\"}").status()).isEqualTo(201);
      assertThat(
              metric(
                  one,
                  "keeper_session_duration_seconds_count{bot_name=\"pulls\",session_outcome=\"released\""))
          .isEqualTo("1");
    }
  }

  @Test
  void aPlaceIsFreeWhenTheLeaseOfADeadConsumerHasRunOut() {
    try (var server = GatewayServer.start(bot("max_concurrent_sessions: 1, session_timeout: 1s"))) {
      server.deliver("pull_request", pull("acme/app", 1, 0));
      server.deliver("pull_request", pull("acme/app", 2, 0));
      assertThat(lease(server, "{}").status()).isEqualTo(201);
      assertThat(lease(server, "{\"wait\":\"PT20S\"}").status()).isEqualTo(201);
    }
  }

  @Test
  void afterTheLongestDurationALeaseIsNotRenewedAndSaysWhy() {
    try (var server =
        GatewayServer.start(bot("session_max_duration: 1s, session_idle_timeout: 900ms"))) {
      server.deliver("pull_request", pull("acme/app", 1, 0));
      var held = lease(server, "{}");
      assertThat(server.post(path(held) + "/renew", "").status()).isEqualTo(200);
      var inHand = server.get(path(held) + "/messages").json().get("messages").get(0);
      await().atMost(PATIENCE).until(() -> server.post(path(held) + "/renew", "").status() == 409);
      var refused = server.post(path(held) + "/renew", "");
      assertThat(refused.json().get("limit").asString()).isEqualTo("session_max_duration");
      assertThat(refused.json().get("detail").asString()).contains("held for 1s");
      // Open deliveries may be finished.
      assertThat(
              server
                  .post(
                      path(held) + "/settlements",
                      "{\"settlements\":[{\"sequence\":"
                          + inHand.get("sequence")
                          + ",\"action\":\"complete\"}]}")
                  .status())
          .isEqualTo(200);
      assertThat(server.get(path(held) + "/messages").status()).isEqualTo(409);
      assertThat(
              metric(
                  server,
                  "keeper_session_timeouts_total{bot_name=\"pulls\",timeout_reason=\"max_duration\""))
          .isEqualTo("1.0");
      assertThat(
              metric(
                  server,
                  "keeper_session_message_count_sum{bot_name=\"pulls\",entity_type=\"pull_request\""))
          .isEqualTo("1.0");
    }
  }

  @Test
  void anIdleSessionIsGivenBackAtTheNextRenewal() {
    try (var server = GatewayServer.start(bot("session_idle_timeout: 500ms"))) {
      server.deliver("pull_request", pull("acme/app", 1, 0));
      var held = lease(server, "{}");
      await().atMost(PATIENCE).until(() -> server.post(path(held) + "/renew", "").status() != 200);
      assertThat(lease(server, "{}").status()).isEqualTo(201);
      assertThat(
              metric(
                  server,
                  "keeper_session_timeouts_total{bot_name=\"pulls\",timeout_reason=\"idle\""))
          .isEqualTo("1.0");
    }
  }

  @Test
  void twoServersPushTogetherToNoMoreSessionsThanTheBotAllows() throws Exception {
    var most = new java.util.concurrent.atomic.AtomicInteger();
    var busy = new java.util.concurrent.atomic.AtomicInteger();
    try (var receiver =
            new Receiver(
                post -> {
                  most.accumulateAndGet(busy.incrementAndGet(), Math::max);
                  for (int i = 0; i < 200; i++) {
                    Thread.onSpinWait();
                    Thread.yield();
                  }
                  busy.decrementAndGet();
                  return Receiver.Answer.of(200);
                });
        var one =
            GatewayServer.start(
                bot(
                    "max_concurrent_sessions: 2, deliver: { url: \""
                        + receiver.url()
                        + "\", allow_private_targets: true }"));
        var two = one.another()) {
      for (int number = 0; number < 40; number++) {
        (number % 2 == 0 ? one : two).deliver("pull_request", pull("acme/app", number, 0));
      }
      await().atMost(PATIENCE).until(() -> receiver.posts.size() == 40);
      assertThat(most.get()).isBetween(1, 2);
    }
  }
}
