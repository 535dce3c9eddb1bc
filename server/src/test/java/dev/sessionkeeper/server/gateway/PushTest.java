package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.webhook.WebhookSignature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class PushTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final String SECRET =
      "whsec_"
          + Base64.getEncoder()
              .encodeToString(
                  "thirty-two bytes for the tests!!"
                      .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static String bot(String name, String repositories, Receiver receiver, String more) {
    return """
          - name: %s
            events: ["pull_request"]
            repositories: ["%s"]
            session_idle_timeout: 500ms
            %s
            deliver: { url: "%s", secret: "%s", timeout: 5s, allow_private_targets: true }
        """
        .formatted(name, repositories, more, receiver.url(), SECRET);
  }

  private static int step(Receiver.Post post) {
    return MAPPER.readTree(post.body()).get("step").asInt();
  }

  private static Map<String, List<Integer>> steps(Receiver receiver, Set<Receiver.Post> failed) {
    var steps = new HashMap<String, List<Integer>>();
    for (var post : receiver.posts) {
      if (!failed.contains(post)) {
        steps.computeIfAbsent(post.session(), session -> new ArrayList<>()).add(step(post));
      }
    }
    return steps;
  }

  @Test
  void everySessionIsPushedInOrderToAnEndpointThatFailsNowAndThen() throws Exception {
    var failed = ConcurrentHashMap.<Receiver.Post>newKeySet();
    var failing = Map.of(1, 500, 2, 0, 3, 400);
    var seen = ConcurrentHashMap.<String>newKeySet();
    try (var receiver =
            new Receiver(
                post -> {
                  // Every fourth message fails once, each time in another way.
                  int kind = step(post) % 4;
                  if (seen.add(post.header("webhook-id")) && kind == 3) {
                    failed.add(post);
                    int number = MAPPER.readTree(post.body()).get("number").asInt();
                    return failing.containsKey(number)
                        ? Receiver.Answer.of(failing.getOrDefault(number, 500))
                        : new Receiver.Answer(503, Map.of("Retry-After", "1"));
                  }
                  return Receiver.Answer.of(200);
                });
        var server =
            GatewayServer.start(
                "bots:\n" + bot("pushed", "acme/*", receiver, "max_concurrent_sessions: 8"))) {
      for (int step = 0; step < 8; step++) {
        for (int number = 1; number <= 4; number++) {
          assertThat(server.deliver("pull_request", pull("acme/app", number, step)).status())
              .isEqualTo(202);
        }
      }
      await().atMost(PATIENCE).until(() -> receiver.posts.size() - failed.size() >= 32);
      var steps = steps(receiver, failed);
      assertThat(steps).hasSize(4);
      assertThat(steps.values())
          .allSatisfy(its -> assertThat(its).containsExactly(0, 1, 2, 3, 4, 5, 6, 7));
      assertThat(receiver.overlaps).hasValue(0);
      assertThat(failed).hasSize(8);
      checkHeaders(receiver);
      checkAttempts(receiver);
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  server
                      .get("/metrics")
                      .text()
                      .contains(
                          "session_timeouts_total{bot_name=\"pushed\",timeout_reason=\"idle\"}"));
      assertThat(server.get("/metrics").text())
          .contains("keeper_active_sessions{bot_name=\"pushed\",ordering_scope=\"entity\"}")
          .contains("keeper_concurrent_session_utilization{bot_name=\"pushed\"}")
          .contains(
              "keeper_session_message_count_bucket{bot_name=\"pushed\",entity_type=\"pull_request\",le=\"10.0\"}")
          .contains("keeper_session_duration_seconds_bucket{bot_name=\"pushed\"")
          .contains("keeper_order_violations_total{bot_name=\"pushed\"} 0.0");
    }
  }

  private static void checkHeaders(Receiver receiver) {
    var signature = WebhookSignature.of(SECRET);
    assertThat(receiver.posts)
        .allSatisfy(
            post -> {
              assertThat(post.header("X-GitHub-Event")).isEqualTo("pull_request");
              assertThat(post.header("X-GitHub-Delivery")).isNotEmpty();
              assertThat(post.header("traceparent")).startsWith("00-");
              assertThat(
                      signature.verify(
                          post.header("webhook-id"),
                          post.header("webhook-timestamp"),
                          post.header("webhook-signature"),
                          post.body(),
                          Instant.now(),
                          Duration.ofMinutes(10)))
                  .isTrue();
            });
  }

  private static void checkAttempts(Receiver receiver) {
    var attempts = new HashMap<String, List<Integer>>();
    for (var post : receiver.posts) {
      attempts
          .computeIfAbsent(post.header("webhook-id"), id -> new ArrayList<>())
          .add(post.attempt());
    }
    assertThat(attempts).hasSize(32);
    assertThat(attempts.values())
        .allSatisfy(its -> assertThat(its).isIn(List.of(1), List.of(1, 2)));
    assertThat(attempts.values().stream().filter(List.of(1, 2)::equals)).hasSize(8);
  }

  @Test
  void aMessageThatIsGoneOrFailsTooOftenIsSetAsideAndItsSessionGoesOn() throws Exception {
    try (var receiver =
            new Receiver(
                post -> Receiver.Answer.of(step(post) == 0 ? 410 : step(post) == 1 ? 400 : 200));
        var server =
            GatewayServer.start(
                "bots:\n" + bot("gone", "acme/*", receiver, "max_delivery_count: 2"))) {
      for (int step = 0; step < 3; step++) {
        server.deliver("pull_request", pull("acme/app", 1, step));
      }
      await()
          .atMost(PATIENCE)
          .until(() -> receiver.posts.stream().anyMatch(post -> step(post) == 2));
      await()
          .atMost(PATIENCE)
          .until(
              () -> server.get("/queues/gone/dead-letters").json().get("deadLetters").size() == 2);
      var letters = server.get("/queues/gone/dead-letters").json().get("deadLetters");
      assertThat(letters.get(0).get("reason").asString()).contains("410");
      assertThat(letters.get(1).get("lastError").asString()).contains("400");
      assertThat(receiver.posts.stream().filter(post -> step(post) == 1)).hasSize(2);
    }
  }

  @Test
  void aBotThatHangsDoesNotSlowAnother() throws Exception {
    var free = new CountDownLatch(1);
    try (var slow =
            new Receiver(
                post -> {
                  try {
                    free.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                  return Receiver.Answer.of(200);
                });
        var quick = new Receiver(post -> Receiver.Answer.of(200));
        var server =
            GatewayServer.start(
                "bots:\n"
                    + bot("slow", "acme/*", slow, "max_concurrent_sessions: 2")
                    + bot("quick", "acme/*", quick, ""))) {
      for (int number = 0; number < 20; number++) {
        server.deliver("pull_request", pull("acme/app", number, 0));
      }
      await().atMost(PATIENCE).until(() -> quick.posts.size() == 20);
      assertThat(slow.posts).isEmpty();
      free.countDown();
    }
  }

  @Test
  void orderHoldsWhileOneRequestInFiveFailsBesideADeadBot() throws Exception {
    var failed = ConcurrentHashMap.<Receiver.Post>newKeySet();
    var dice = new Random(42);
    try (var dead = new Receiver(post -> Receiver.Answer.of(0));
        var flaky =
            new Receiver(
                post -> {
                  boolean fails;
                  synchronized (dice) {
                    fails = dice.nextDouble() < 0.2;
                  }
                  if (fails) {
                    failed.add(post);
                  }
                  return Receiver.Answer.of(fails ? 500 : 200);
                });
        var server =
            GatewayServer.start(
                "bots:\n"
                    + bot("dead", "acme/*", dead, "max_concurrent_sessions: 5")
                    + bot("flaky", "acme/*", flaky, "max_delivery_count: 50"))) {
      for (int step = 0; step < 5; step++) {
        for (int number = 1; number <= 20; number++) {
          server.deliver("pull_request", pull("acme/app", number, step));
        }
      }
      await().atMost(PATIENCE).until(() -> flaky.posts.size() - failed.size() >= 100);
      var steps = steps(flaky, failed);
      assertThat(steps).hasSize(20);
      assertThat(steps.values()).allSatisfy(its -> assertThat(its).containsExactly(0, 1, 2, 3, 4));
      assertThat(failed).isNotEmpty();
      assertThat(flaky.overlaps).hasValue(0);
    }
  }

  @Test
  void aDeadEndpointIsLeftAloneAndAttemptsAreNotUsedUp() throws Exception {
    var dead = new AtomicBoolean(true);
    try (var receiver = new Receiver(post -> Receiver.Answer.of(dead.get() ? 0 : 200));
        var server =
            GatewayServer.start(
                "bots:\n" + bot("dead", "acme/*", receiver, "max_concurrent_sessions: 20"))) {
      for (int number = 0; number < 40; number++) {
        server.deliver("pull_request", pull("acme/app", number, 0));
      }
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  server
                      .get("/metrics")
                      .text()
                      .contains("keeper_push_circuit_open{bot_name=\"dead\"} 1.0"));
      assertThat(receiver.posts).hasSizeLessThan(60);
      dead.set(false);
      await()
          .atMost(PATIENCE)
          .until(() -> server.count("SELECT count(*) FROM keeper.waiting_message") == 0);
      assertThat(server.get("/queues/dead/dead-letters").json().get("deadLetters")).isEmpty();
    }
  }

  @Test
  void aReloadChangesTheEndpointOfARunningBotAndRetiresOthers() throws Exception {
    try (var before = new Receiver(post -> Receiver.Answer.of(200));
        var after = new Receiver(post -> Receiver.Answer.of(200));
        var server =
            GatewayServer.start(
                "bots:\n"
                    + bot("moving", "acme/*", before, "")
                    + bot("leaving", "acme/*", before, ""))) {
      server.deliver("pull_request", pull("acme/app", 1, 0));
      await().atMost(PATIENCE).until(() -> before.posts.size() == 2);
      server.reload("bots:\n" + bot("moving", "acme/*", after, ""));
      server.deliver("pull_request", pull("acme/app", 1, 1));
      await().atMost(PATIENCE).until(() -> after.posts.size() == 1);
      assertThat(before.posts).hasSize(2);
      assertThat(server.get("/metrics").text())
          .doesNotContain("keeper_active_sessions{bot_name=\"leaving\"");
    }
  }

  @Test
  void aPrivateTargetIsNotCalledUnlessAllowed() throws Exception {
    try (var receiver = new Receiver(post -> Receiver.Answer.of(200));
        var server =
            GatewayServer.start(
                "bots:\n"
                    + bot("inside", "acme/*", receiver, "max_delivery_count: 1")
                        .replace("allow_private_targets: true", "allow_private_targets: false"))) {
      server.deliver("pull_request", pull("acme/app", 1, 0));
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  server.get("/queues/inside/dead-letters").json().get("deadLetters").size() == 1);
      assertThat(receiver.posts).isEmpty();
      assertThat(server.get("/queues/inside/dead-letters").text()).contains("private address");
    }
  }
}
