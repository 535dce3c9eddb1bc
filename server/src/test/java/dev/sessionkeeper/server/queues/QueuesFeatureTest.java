package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestServer;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QueuesFeatureTest {
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.start("");
    assertThat(server.put("/queues/q", "{\"mode\":\"ORDERED\"}").status()).isEqualTo(201);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void send(String session, String... bodies) {
    for (var body : bodies) {
      var message = "{\"sessionId\":\"%s\",\"body\":%s}".formatted(session, body);
      assertThat(server.post("/queues/q/messages", "{\"messages\":[" + message + "]}").status())
          .isEqualTo(201);
    }
  }

  private String accept(String session) {
    var reply = server.post("/queues/q/leases", "{\"sessionId\":\"" + session + "\"}");
    assertThat(reply.status()).as(reply.body()).isEqualTo(201);
    return "/queues/q/leases/" + reply.json().get("leaseId").asString();
  }

  @Test
  void aQueueThatIsDeclaredAgainKeepsWhatIsNotNamed() {
    var strict =
        """
        {"mode":"ORDERED","maxDeliveryCount":20,"lockDuration":"PT5M","messageTtl":"PT48H",
         "duplicateWindow":"PT1H","poisonPolicy":"PARK_SESSION"}
        """;
    var created = server.put("/queues/strict", strict);
    assertThat(created.status()).isEqualTo(201);
    for (var same : new String[] {"{\"mode\":\"ORDERED\"}", "{}", strict}) {
      var again = server.put("/queues/strict", same);
      assertThat(again.status()).as(again.body()).isEqualTo(200);
      assertThat(again.json()).isEqualTo(created.json());
    }
    var changed = server.put("/queues/strict", "{\"lockDuration\":\"PT2M\"}").json();
    assertThat(changed.get("lockDuration").asString()).isEqualTo("PT2M");
    assertThat(changed.get("maxDeliveryCount").asInt()).isEqualTo(20);
    assertThat(changed.get("poisonPolicy").asString()).isEqualTo("PARK_SESSION");
    assertThat(server.get("/queues/strict").json()).isEqualTo(changed);
  }

  @Test
  void aNewQueueMustSayItsMode() {
    var refused = server.put("/queues/new", "{\"maxDeliveryCount\":3}");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().get("errors").findValuesAsString("field")).containsExactly("mode");
    assertThat(server.get("/queues/new").status()).isEqualTo(404);
  }

  @Test
  void aBodyComesBackToTheDigitAsItWasSent() {
    send("s", "{\"z\": 2.50, \"a\":1e400,\"n\":12345678901234567890}");
    assertThat(server.get(accept("s") + "/messages").body())
        .contains("\"body\":{\"z\": 2.50, \"a\":1e400,\"n\":12345678901234567890}");
  }

  @Test
  void timesHaveMicroseconds() {
    send("s", "1");
    var message = server.get(accept("s") + "/messages").json().get("messages").get(0);
    assertThat(message.get("enqueuedAt").asString())
        .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z");
  }

  @Test
  void whoLostAnAnswerAsksAgainAndGetsTheSame() {
    send("s", "1", "2", "3");
    var lease = accept("s");
    var first = server.get(lease + "/messages?max=2").json();
    var again = server.get(lease + "/messages?max=2").json();
    assertThat(again).isEqualTo(first);
  }

  @Test
  void oneBadSettlementMeansThatNothingIsApplied() {
    send("s", "1", "2");
    var lease = accept("s");
    var messages = server.get(lease + "/messages").json().get("messages");
    long two = messages.get(1).get("sequence").asLong();
    var reply =
        server.post(
            lease + "/settlements",
            "{\"settlements\":[{\"sequence\":%d,\"action\":\"complete\"}]}".formatted(two));
    assertThat(reply.problem()).isEqualTo("out-of-order");
    assertThat(server.get(lease + "/messages").json().get("messages")).hasSize(2);
  }

  @Test
  void everyBadMessageOfABatchIsNamedByItsPlace() {
    var reply =
        server.post(
            "/queues/q/messages",
            """
            {"messages":[
              {"sessionId":"s","body":1},
              {"sessionId":"é","body":1,"ttl":5},
              {"sessionId":"s","body":1,"bodyText":"x"}]}
            """);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.json().get("errors").findValuesAsString("field"))
        .containsExactlyInAnyOrder(
            "messages[1].sessionId", "messages[1].ttl", "messages[2].bodyText");
  }

  @Test
  void aMessageOverTheLimitIsToldTheLimit() {
    var body = "x".repeat((1 << 20) + 1);
    var reply =
        server.post(
            "/queues/q/messages",
            "{\"messages\":[{\"sessionId\":\"s\",\"bodyText\":\"" + body + "\"}]}");
    assertThat(reply.status()).isEqualTo(413);
    assertThat(reply.json().get("limit").asString()).isEqualTo("maxBodyBytes");
    assertThat(reply.json().get("allowed").asInt()).isEqualTo(1 << 20);
  }

  @Test
  void aClientThatHangsUpWhileItWaitsTakesNoLease() throws IOException {
    try (var socket = new Socket("127.0.0.1", server.port())) {
      var body = "{\"wait\":\"PT60S\"}";
      var request =
          "POST /queues/q/leases HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
              + "Content-Length: %d\r\n\r\n%s".formatted(body.length(), body);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      await().until(() -> server.server().running() == 1);
    }
    await().until(() -> server.server().running() == 0);
    send("s", "1");
    assertThat(accept("s")).isNotBlank();
  }

  @Test
  void aLeaseIdOfAnotherQueueIsWorthNothing() {
    send("s", "1");
    var lease = accept("s");
    server.put("/queues/other", "{\"mode\":\"ORDERED\"}");
    assertThat(server.get(lease.replace("/q/", "/other/") + "/messages").problem())
        .isEqualTo("session-lock-lost");
  }

  @Test
  void aListGoesOnBehindItsCursor() {
    server.put("/queues/r", "{\"mode\":\"UNORDERED\"}");
    server.put("/queues/s", "{\"mode\":\"ORDERED\"}");
    var first = server.get("/queues?limit=2").json();
    assertThat(first.get("queues").findValuesAsString("name")).containsExactly("q", "r");
    var rest = server.get("/queues?limit=2&cursor=" + first.get("nextCursor").asString()).json();
    assertThat(rest.get("queues").findValuesAsString("name")).containsExactly("s");
    assertThat(rest.has("nextCursor")).isFalse();
    assertThat(
            server.get("/queues/q/sessions?cursor=" + first.get("nextCursor").asString()).problem())
        .isEqualTo("invalid-cursor");
  }

  @Test
  void theTraceOfTheSenderTravelsWithItsMessages() {
    var trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    server.send(
        "POST",
        "/queues/q/messages",
        Optional.of("{\"messages\":[{\"sessionId\":\"s\",\"body\":1}]}"),
        "traceparent",
        trace);
    var message = server.get(accept("s") + "/messages").json().get("messages").get(0);
    assertThat(message.get("properties").get("traceparent").asString()).isEqualTo(trace);
  }

  @Test
  void theNumbersOfAQueueAreMeteredWithoutNamingSessions() {
    send("secret-session", "1", "2");
    var metrics = server.get("/metrics").body();
    assertThat(metrics)
        .contains("keeper_queue_depth{queue=\"q\"} 2.0", "keeper_order_violations_total 0.0")
        .doesNotContain("secret-session");
  }

  @Test
  void theDashboardAsksNobodyElseForAnything() {
    send("s", "1");
    var page = server.get("/ui/queues/q");
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Security-Policy")).startsWith("default-src 'none'");
    assertThat(page.body()).contains("<h1 class=\"name\">q</h1>").doesNotContain("src=\"http");
  }
}
