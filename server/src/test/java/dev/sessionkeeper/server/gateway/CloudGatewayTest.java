package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests the way from GitHub to a bot through the queues of a cloud, while connections break and
 * locks end: every accepted webhook reaches every bot, in the order of each pull request.
 */
@Timeout(150)
class CloudGatewayTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final Duration LOCK = Duration.ofSeconds(3);
  private static final int PULL_REQUESTS = 6;
  private static final int STEPS = 8;
  private static final int SLOW_STEP = STEPS / 2;
  private static final String SECRET =
      "whsec_"
          + Base64.getEncoder()
              .encodeToString("thirty-two bytes for the tests!!".getBytes(US_ASCII));
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @Test
  void throughSqs() throws Exception {
    try (var queues = CloudQueues.sqs(LOCK)) {
      everythingArrivesInOrder(queues);
    }
  }

  @Test
  void throughServiceBus() throws Exception {
    try (var queues = CloudQueues.serviceBus()) {
      everythingArrivesInOrder(queues);
    }
  }

  private static void everythingArrivesInOrder(CloudQueues queues) throws Exception {
    var bot = new UnsteadyBot();
    try (var receiver = new Receiver(bot::answer);
        var server = GatewayServer.startWithLocks(LOCK, queues.yaml() + bots(receiver))) {
      for (int step = 0; step < STEPS; step++) {
        deliver(server, step);
        if (step % 2 == 1) {
          queues.dropConnections();
        }
        if (step == SLOW_STEP) {
          await().atMost(PATIENCE).until(() -> bot.isBusy);
          queues.endLocks("pushed");
          bot.mayGoOn.countDown();
        }
      }
      var pulled = new HashMap<String, List<Integer>>();
      takeSome(server, pulled, PULL_REQUESTS);
      queues.dropConnections();
      await().atMost(PATIENCE).until(() -> isComplete(bot.accepted));
      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                takeSome(server, pulled, Integer.MAX_VALUE);
                return isComplete(pulled);
              });

      assertInOrder(bot.accepted);
      assertInOrder(pulled);
      assertThat(server.get("/metrics").text())
          .contains("keeper_leases_lost_total{bot_name=\"pushed\"}")
          .contains("keeper_order_violations_total{bot_name=\"pushed\"} 0.0");
    }
  }

  private static String bots(Receiver receiver) {
    return """
        bots:
          - { name: pulled, events: ["pull_request"] }
          - name: pushed
            events: ["pull_request"]
            max_delivery_count: 20
            deliver: { url: "%s", secret: "%s", timeout: 5s, allow_private_targets: true }
        """
        .formatted(receiver.url(), SECRET);
  }

  /** Delivers one event of every pull request, each twice as GitHub may, until it is accepted. */
  private static void deliver(GatewayServer server, int step) {
    for (int number = 1; number <= PULL_REQUESTS; number++) {
      var delivery = UUID.randomUUID().toString();
      var event = pull("acme/app", number, step);
      assertThat(server.deliver("pull_request", delivery, event).status()).isEqualTo(202);
      assertThat(server.deliver("pull_request", delivery, event).status()).isEqualTo(200);
    }
  }

  /** A bot that fails every fourth message at first, and is handling one when the locks end. */
  private static final class UnsteadyBot {
    final Map<String, List<Integer>> accepted = new ConcurrentHashMap<>();
    final CountDownLatch mayGoOn = new CountDownLatch(1);
    volatile boolean isBusy;

    Receiver.Answer answer(Receiver.Post post) {
      int step = MAPPER.readTree(post.body()).get("step").asInt();
      if (step % 4 == 3 && post.attempt() == 1) {
        return Receiver.Answer.of(500);
      }
      if (step == SLOW_STEP) {
        isBusy = true;
        waitFor(mayGoOn);
      }
      accepted.merge(post.session(), List.of(step), CloudGatewayTest::joined);
      return Receiver.Answer.of(200);
    }

    private static void waitFor(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Receives and completes messages of sessions; if a lease breaks, the messages come again. */
  private static void takeSome(
      GatewayServer server, Map<String, List<Integer>> pulled, int sessions) {
    for (int i = 0; i < sessions; i++) {
      var lease = server.post("/queues/pulled/leases", "{\"wait\":\"PT1S\"}");
      if (lease.status() != 201) {
        return;
      }
      var path = "/queues/pulled/leases/" + lease.json().get("leaseId").asString();
      drain(server, path, lease.json().get("sessionId").asString(), pulled);
      server.send(server.request(path).DELETE());
    }
  }

  private static void drain(
      GatewayServer server, String path, String session, Map<String, List<Integer>> pulled) {
    while (true) {
      var received = server.get(path + "/messages?max=5");
      if (received.status() != 200 || received.json().get("messages").isEmpty()) {
        return;
      }
      for (var message : received.json().get("messages")) {
        pulled.merge(session, List.of(stepOf(message)), CloudGatewayTest::joined);
        if (server.post(path + "/settlements", complete(message)).status() != 200) {
          return;
        }
      }
    }
  }

  private static int stepOf(JsonNode message) {
    return message.get("body").get("step").asInt();
  }

  private static String complete(JsonNode message) {
    return "{\"settlements\":[{\"sequence\":%s,\"action\":\"complete\"}]}"
        .formatted(message.get("sequence"));
  }

  private static List<Integer> joined(List<Integer> first, List<Integer> second) {
    var all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  private static boolean isComplete(Map<String, List<Integer>> sessions) {
    return sessions.size() == PULL_REQUESTS
        && sessions.values().stream().allMatch(steps -> steps.contains(STEPS - 1));
  }

  /**
   * Messages that were handled but not settled come again with their successors; but none is ever
   * handled before its predecessor.
   */
  private static void assertInOrder(Map<String, List<Integer>> sessions) {
    assertThat(sessions).hasSize(PULL_REQUESTS);
    assertThat(sessions)
        .allSatisfy(
            (session, steps) -> {
              int last = -1;
              for (int step : steps) {
                assertThat(step).as("%s handled %s", session, steps).isLessThanOrEqualTo(last + 1);
                last = step;
              }
              assertThat(last).as("the end of %s: %s", session, steps).isEqualTo(STEPS - 1);
            });
  }
}
