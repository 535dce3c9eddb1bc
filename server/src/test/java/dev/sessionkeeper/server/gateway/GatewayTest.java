package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.OLD_SECRET;
import static dev.sessionkeeper.server.gateway.GatewayServer.SECRET;
import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.server.config.InvalidConfig;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class GatewayTest {
  private static final String BOTS =
      """
      bots:
        - { name: one, events: ["pull_request.*", "issues"], repositories: ["acme/*", "!acme/secret"] }
        - { name: two, events: ["*", "!issues.deleted"], ordering_scope: repository }
        - { name: three, events: ["release"], ordering_scope: none }
      """;

  private static GatewayServer server;

  @BeforeAll
  static void start() {
    server = GatewayServer.start(BOTS);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String id() {
    return UUID.randomUUID().toString();
  }

  private static List<String> texts(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asString).toList();
  }

  @Test
  void bothSecretsOfARotationCountAndAnyOtherStoresNothing() {
    var body = pull("acme/rotation", 1, 1).getBytes(UTF_8);
    var json = "application/json";
    assertThat(server.deliver("pull_request", id(), body, json, OLD_SECRET).status())
        .isEqualTo(202);
    var other = pull("acme/rotation", 1, 2).getBytes(UTF_8);
    assertThat(server.deliver("pull_request", id(), other, json, SECRET).status()).isEqualTo(202);
    var wrong = server.deliver("pull_request", id(), body, json, "guessed");
    assertThat(wrong.status()).isEqualTo(401);
    assertThat(wrong.header("Content-Type")).isEqualTo("application/problem+json");
    var unsigned =
        server.send(
            server
                .request("/webhooks/github")
                .header("X-GitHub-Event", "pull_request")
                .header("X-GitHub-Delivery", id())
                .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    assertThat(unsigned.status()).isEqualTo(401);
    assertThat(server.deliver("pull_request", id(), "[1]").status()).isEqualTo(400);
    assertThat(
            server
                .deliver("pull_request", id(), "<x/>".getBytes(UTF_8), "text/xml", SECRET)
                .status())
        .isEqualTo(415);
    assertThat(
            server.count(
                "SELECT count(*) FROM keeper.github_event WHERE repository = 'acme/rotation'"))
        .isEqualTo(2);
  }

  @Test
  void aKnownDeliveryIsNotRoutedAgain() {
    var delivery = id();
    var first = server.deliver("pull_request", delivery, pull("acme/twice", 1, 1));
    assertThat(first.status()).isEqualTo(202);
    assertThat(texts(first.json().get("routedTo"))).containsExactly("one", "two");
    var again = server.deliver("pull_request", delivery, pull("acme/twice", 1, 1));
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.json().get("duplicate").asBoolean()).isTrue();
    assertThat(again.json().get("eventId")).isEqualTo(first.json().get("eventId"));
    assertThat(server.drain("one", "acme/twice/pull_request/1")).hasSize(1);
    assertThat(server.drain("two", "acme/twice/repository")).hasSize(1);
  }

  @Test
  void aSignedBodyIsNotRoutedAgainUnderAnotherDeliveryIdOrEventName() {
    var body = pull("acme/replayed", 1, 1);
    var first = server.deliver("pull_request", id(), body);
    assertThat(first.status()).isEqualTo(202);
    for (var type : List.of("pull_request", "release", "issues")) {
      var again = server.deliver(type, id(), body);
      assertThat(again.status()).isEqualTo(200);
      assertThat(again.json().get("duplicate").asBoolean()).isTrue();
      assertThat(again.json().get("eventId")).isEqualTo(first.json().get("eventId"));
    }
    var asForm = server.deliver("issues", id(), body.getBytes(UTF_8), "a/b+json", SECRET);
    assertThat(asForm.status()).isEqualTo(200);
    assertThat(server.drain("one", "acme/replayed/pull_request/1")).hasSize(1);
    assertThat(server.drain("two", "acme/replayed/repository")).hasSize(1);
    assertThat(
            server.count(
                "SELECT count(*) FROM keeper.github_event WHERE repository = 'acme/replayed'"))
        .isEqualTo(1);
    assertThat(server.get("/metrics").text())
        .containsPattern("keeper_webhooks_total\\{outcome=\"same_body\"} [1-9]");
  }

  @Test
  void theSameSignedBodyAtTheSameTimeIsRoutedOnce() throws Exception {
    var body = pull("acme/twins", 1, 1);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var replies =
          IntStream.range(0, 8)
              .mapToObj(i -> threads.submit(() -> server.deliver("pull_request", id(), body)))
              .toList();
      var statuses = new ArrayList<Integer>();
      for (var reply : replies) {
        statuses.add(reply.get().status());
      }
      assertThat(statuses).containsOnlyOnce(202).contains(200);
    }
    assertThat(server.drain("one", "acme/twins/pull_request/1")).hasSize(1);
  }

  @Test
  void aReplayForABotThatDoesNotExistIsRefused() {
    for (var more : List.of("", ", \"deadLetters\": true", ", \"dryRun\": true")) {
      var reply = server.post("/events/replay", "{\"bot\":\"nobody\"" + more + "}");
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.text()).contains("must be a bot of the configuration: one, two, three");
    }
  }

  @Test
  void allParkedSessionsOfAQueueGoOnAtOnce() {
    for (int number = 1; number <= 3; number++) {
      server.deliver("pull_request", pull("acme/parked", number, 0));
      var session = "acme/parked/pull_request/" + number;
      var park = "{\"sessionId\":\"" + session + "\",\"action\":\"park\"}";
      assertThat(server.post("/queues/one/sessions/actions", park).status()).isEqualTo(200);
    }
    assertThat(server.get("/metrics").text())
        .contains("keeper_queue_parked_sessions{queue=\"one\"} 3.0");
    var all = "{\"all\":true,\"action\":\"resume\",\"reason\":\"mended\"}";
    var reply = server.post("/queues/one/sessions/actions", all);
    assertThat(reply.json().get("affected").asInt()).isEqualTo(3);
    assertThat(reply.json().get("more").asBoolean()).isFalse();
    assertThat(server.post("/queues/one/sessions/actions", all).json().get("affected").asInt())
        .isZero();
    for (int number = 1; number <= 3; number++) {
      assertThat(server.drain("one", "acme/parked/pull_request/" + number)).hasSize(1);
    }
    var park = "{\"all\":true,\"action\":\"deadLetterAll\"}";
    assertThat(server.post("/queues/one/sessions/actions", park).status()).isEqualTo(400);
  }

  @Test
  void aRedeliveryRevivesDeadLettersOnce() {
    var delivery = id();
    server.deliver("pull_request", delivery, pull("acme/dead", 1, 1));
    server.kill("one", "acme/dead/pull_request/1");
    var again = server.deliver("pull_request", delivery, pull("acme/dead", 1, 1));
    assertThat(again.json().get("revived").asInt()).isEqualTo(1);
    var third = server.deliver("pull_request", delivery, pull("acme/dead", 1, 1));
    assertThat(third.json().get("revived").asInt()).isZero();
    assertThat(server.drain("one", "acme/dead/pull_request/1")).hasSize(1);
  }

  @Test
  void aFormIsUnderstoodAndItsBytesAreKept() {
    var json = pull("acme/form", 1, 1);
    var form = ("payload=" + URLEncoder.encode(json, UTF_8)).getBytes(UTF_8);
    var type = "application/x-www-form-urlencoded";
    var reply = server.deliver("pull_request", id(), form, type, SECRET);
    assertThat(reply.status()).isEqualTo(202);
    var event = reply.json().get("eventId").asString();
    var original = server.get("/events/" + event + "/payload");
    assertThat(original.bytes()).isEqualTo(form);
    assertThat(original.header("Content-Type")).isEqualTo(type);
    var message = server.drain("one", "acme/form/pull_request/1").getFirst();
    assertThat(message.get("body").get("pull_request").get("number").asInt()).isEqualTo(1);
  }

  @Test
  void aPayloadOverTheQueuesLimitTravelsAsAReference() {
    var json =
        pull("acme/large", 1, 1).replaceFirst("\\{", "{\"x\":\"" + "y".repeat(2_000_000) + "\",");
    var reply = server.deliver("pull_request", json);
    assertThat(reply.status()).isEqualTo(202);
    var event = reply.json().get("eventId").asString();
    var message = server.drain("one", "acme/large/pull_request/1").getFirst();
    assertThat(message.get("properties").get("payload_ref").asString()).isEqualTo(event);
    assertThat(server.get("/events/" + event + "/payload").bytes()).isEqualTo(json.getBytes(UTF_8));
  }

  @Test
  void anEventTellsWhichBotsMatchedAndWhyTheOthersDidNot() {
    var reply = server.deliver("pull_request", pull("acme/secret", 1, 1));
    assertThat(texts(reply.json().get("routedTo"))).containsExactly("two");
    var event = server.get("/events/" + reply.json().get("eventId").asString()).json();
    assertThat(event.get("event").get("repository").asString()).isEqualTo("acme/secret");
    assertThat(event.get("bots")).hasSize(3);
    assertThat(event.get("bots").get(0).get("matched").asBoolean()).isFalse();
    assertThat(event.get("bots").get(0).get("explanation").asString()).contains("!acme/secret");
    assertThat(event.get("bots").get(1).get("matched").asBoolean()).isTrue();
    assertThat(event.get("messages")).hasSize(1);
  }

  @Test
  void theTraceOfTheCallerGoesOnInTheMessage() {
    var body = pull("acme/trace", 1, 1).getBytes(UTF_8);
    var trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    server.send(
        server
            .request("/webhooks/github")
            .header("Content-Type", "application/json")
            .header("X-GitHub-Event", "pull_request")
            .header("X-GitHub-Delivery", id())
            .header(
                "X-Hub-Signature-256", dev.sessionkeeper.github.GitHubSignature.sign(SECRET, body))
            .header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    var properties = server.drain("one", "acme/trace/pull_request/1").getFirst().get("properties");
    assertThat(properties.get("trace_id").asString()).isEqualTo(trace);
    assertThat(properties.get("traceparent").asString()).startsWith("00-" + trace + "-");
  }

  @Test
  void eventsAreFoundNewestFirstInPages() {
    for (int i = 0; i < 5; i++) {
      server.deliver("pull_request", pull("acme/found", i, i));
    }
    server.deliver("push", pull("acme/found", 9, 9));
    var seen = new ArrayList<String>();
    var path = "/events?repository=acme/found&type=pull_request.synchronize&limit=2";
    for (var cursor = ""; ; ) {
      var page = server.get(path + cursor).json();
      page.get("events").forEach(event -> seen.add(event.get("entityId").asString()));
      if (!page.has("nextCursor")) {
        break;
      }
      cursor = "&cursor=" + page.get("nextCursor").asString();
    }
    assertThat(seen).containsExactly("4", "3", "2", "1", "0");
    assertThat(found("sessionId=acme/found/pull_request/3")).isEqualTo(1);
    assertThat(found("sessionId=acme/found/repository")).isEqualTo(6);
    assertThat(found("bot=one&repository=acme/found")).isEqualTo(5);
    assertThat(found("repository=acme/found&to=2001-01-01T00:00:00Z")).isZero();
    assertThat(server.get("/events?cursor=x").status()).isEqualTo(400);
    assertThat(server.get("/events?colour=red").status()).isEqualTo(400);
    assertThat(server.get("/events/" + id()).status()).isEqualTo(404);
  }

  private static int found(String query) {
    return server.get("/events?" + query).json().get("events").size();
  }

  @Test
  void aReplaySendsInTheOriginalOrderUnderNewIdsAndOnlyOnce() {
    for (int i = 0; i < 4; i++) {
      server.deliver("pull_request", pull("acme/again", 7, i));
    }
    var session = "acme/again/pull_request/7";
    var first = server.drain("one", session);
    var wish = "\"sessionId\":\"" + session + "\",\"bot\":\"one\",\"reason\":\"a fixed bug\"";
    var dry = server.post("/events/replay", "{" + wish + ",\"dryRun\":true}").json();
    assertThat(dry.get("wouldReplay").asInt()).isEqualTo(4);
    assertThat(server.drainable("one", session)).isFalse();

    var done = server.post("/events/replay", "{" + wish + "}").json();
    assertThat(done.get("replayed").asInt()).isEqualTo(4);
    var again = server.post("/events/replay", "{" + wish + "}").json();
    assertThat(again.get("repeated").asBoolean()).isTrue();
    assertThat(again.get("replayId")).isEqualTo(done.get("replayId"));

    var second = server.drain("one", session);
    assertThat(second)
        .extracting(m -> m.get("body").get("step").asInt())
        .containsExactly(0, 1, 2, 3);
    assertThat(second)
        .extracting(m -> m.get("properties").get("replayed").asString())
        .containsOnly("true");
    assertThat(second)
        .extracting(m -> m.get("messageId").asString())
        .doesNotContainAnyElementsOf(
            first.stream().map(m -> m.get("messageId").asString()).toList());
    assertThat(second)
        .extracting(m -> m.get("properties").get("correlation_id").asString())
        .containsExactlyElementsOf(
            first.stream().map(m -> m.get("properties").get("correlation_id").asString()).toList());
    assertThat(
            server.count(
                "SELECT count(*) FROM keeper.audit WHERE action = 'events.replay' AND reason = 'a"
                    + " fixed bug'"))
        .isEqualTo(1);
  }

  @Test
  void deadLettersOfEventsCanBeRevivedByFilter() {
    server.deliver("pull_request", pull("acme/graves", 1, 1));
    server.kill("one", "acme/graves/pull_request/1");
    var wish = "\"repository\":\"acme/graves\",\"deadLetters\":true";
    assertThat(
            server
                .post("/events/replay", "{" + wish + ",\"dryRun\":true}")
                .json()
                .get("wouldReplay")
                .asInt())
        .isEqualTo(1);
    assertThat(server.post("/events/replay", "{" + wish + "}").json().get("replayed").asInt())
        .isEqualTo(1);
    assertThat(server.drain("one", "acme/graves/pull_request/1")).hasSize(1);
  }

  @Test
  void aReplayOfNothingInParticularIsRefused() {
    assertThat(server.post("/events/replay", "{}").status()).isEqualTo(400);
    assertThat(server.post("/events/replay", "{\"deadLetters\":false}").status()).isEqualTo(400);
    assertThat(server.post("/events/replay", "{\"eventId\":\"x\"}").status()).isEqualTo(400);
    assertThat(server.post("/events/replay", "{\"surprise\":1}").status()).isEqualTo(400);
  }

  @Test
  void deliveriesOfOneSessionThatMeetAreOrderedAsTheyWereStored() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var all =
          IntStream.range(0, 60)
              .mapToObj(
                  i ->
                      threads.submit(() -> server.deliver("pull_request", pull("acme/race", 1, i))))
              .toList();
      for (var one : all) {
        assertThat(one.get().status()).isEqualTo(202);
      }
    }
    var stored = new ArrayList<String>();
    server
        .get("/events?repository=acme/race&limit=100")
        .json()
        .get("events")
        .forEach(event -> stored.addFirst(event.get("eventId").asString()));
    var handled =
        server.drain("one", "acme/race/pull_request/1").stream()
            .map(m -> m.get("properties").get("correlation_id").asString())
            .toList();
    assertThat(handled).hasSize(60).containsExactlyElementsOf(stored);
  }

  @Test
  void theNumbersOfTheIntakeAreShown() {
    server.deliver("release", pull("acme/metrics", 1, 1));
    var metrics = server.get("/metrics").text();
    assertThat(metrics)
        .contains("keeper_webhooks_total{outcome=\"accepted\"}")
        .contains("keeper_webhook_messages_total{bot_name=\"three\"}")
        .contains("keeper_queue_depth_threshold{bot_name=\"one\"");
  }

  // K13
  @Test
  void theSessionsOfABotThatPullsAreCounted() {
    server.deliver("pull_request", pull("acme/held", 1, 1));
    var lease =
        server
            .post("/queues/one/leases", "{\"sessionId\":\"acme/held/pull_request/1\"}")
            .json()
            .get("leaseId")
            .asString();
    assertThat(server.get("/metrics").text())
        .contains("keeper_active_sessions{bot_name=\"one\",ordering_scope=\"entity\"} 1.0")
        .contains("keeper_concurrent_session_utilization{bot_name=\"one\"} 0.02")
        .contains("keeper_active_sessions{bot_name=\"two\"")
        .contains("keeper_webhooks_queued 0.0");
    server.send(server.request("/queues/one/leases/" + lease).DELETE());
    assertThat(server.get("/metrics").text())
        .contains("keeper_active_sessions{bot_name=\"one\",ordering_scope=\"entity\"} 0.0");
  }

  @Test
  void aReloadIsTakenOverAsAWholeOrNotAtAll() {
    try (var own = GatewayServer.start(BOTS)) {
      assertThatThrownBy(() -> own.reload(BOTS + "  - { name: three, events: [\"*\"] }\n"))
          .isInstanceOf(InvalidConfig.class);
      assertThatThrownBy(
              () -> own.reload("bots:\n  - { name: one, events: [\"*\"], ordering_scope: none }\n"))
          .isInstanceOf(InvalidConfig.class)
          .hasMessageContaining("one");
      assertThat(texts(own.deliver("push", pull("acme/x", 1, 1)).json().get("routedTo")))
          .containsExactly("two");
      own.reload("bots:\n  - { name: four, events: [\"push\"] }\n");
      assertThat(texts(own.deliver("push", pull("acme/x", 1, 2)).json().get("routedTo")))
          .containsExactly("four");
    }
  }
}
