package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.server.TestServer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * Answers with large messages are bounded in bytes, and messages that did not fit have used no
 * attempt.
 */
class BoundedAnswersTest {
  private static final int MESSAGES = 20;
  private static final int MOST_IN_ONE_ANSWER = 8;

  /** The most sessions that are received at once, until the answer is full. */
  private static final int MOST_SESSIONS = 32;

  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.start("");
    for (var mode : new String[] {"ORDERED", "UNORDERED"}) {
      assertThat(
              server
                  .put(
                      "/queues/" + mode,
                      "{\"mode\":\""
                          + mode
                          + "\",\"maxDeliveryCount\":1,\"lockDuration\":\"PT5M\"}")
                  .status())
          .isEqualTo(201);
    }
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void send(String queue, String session) {
    var body = "\"body\":\"" + "x".repeat((1 << 20) - 2) + "\"";
    for (int i = 0; i < MESSAGES; i++) {
      var reply =
          server.post(
              "/queues/" + queue + "/messages", "{\"messages\":[{" + session + body + "}]}");
      assertThat(reply.status()).as(reply.problem()).isEqualTo(201);
    }
  }

  @Test
  void aReceiveOfLargeMessagesTakesOnlyWhatFits() {
    send("UNORDERED", "");
    var seen = new HashSet<String>();
    while (seen.size() < MESSAGES) {
      var reply = server.post("/queues/UNORDERED/receive", "{\"max\":1000}");
      assertThat(reply.status()).as(reply.problem()).isEqualTo(200);
      var messages = messages(reply.json());
      assertThat(messages).hasSizeBetween(1, MOST_IN_ONE_ANSWER);
      for (var message : messages) {
        assertThat(message.get("attempt").asInt()).isEqualTo(1);
        assertThat(seen.add(message.get("messageId").asString())).isTrue();
      }
    }
    assertThat(server.get("/queues/UNORDERED").json().get("dead").asInt()).isZero();
  }

  @Test
  void aLeasedReceiveOfLargeMessagesTakesOnlyWhatFits() {
    send("ORDERED", "\"sessionId\":\"s\",");
    var lease =
        "/queues/ORDERED/leases/"
            + server.post("/queues/ORDERED/leases", "{}").json().get("leaseId").asString();
    int handled = 0;
    while (handled < MESSAGES) {
      var reply = server.get(lease + "/messages?max=1000&wait=PT1S");
      assertThat(reply.status()).as(reply.problem()).isEqualTo(200);
      var messages = messages(reply.json());
      assertThat(messages).hasSizeBetween(1, MOST_IN_ONE_ANSWER);
      assertThat(messages).allMatch(message -> message.get("attempt").asInt() == 1);
      for (var message : messages) {
        var settled =
            server.post(
                lease + "/settlements",
                "{\"settlements\":[{\"sequence\":%d,\"action\":\"complete\"}]}"
                    .formatted(message.get("sequence").asLong()));
        assertThat(settled.status()).as(settled.body()).isEqualTo(200);
      }
      handled += messages.size();
    }
  }

  /** Each of many sessions has one large message, which is delivered whatever its size. */
  @Test
  void aRoundOverManySessionsWithLargeMessagesTakesOnlyWhatFits() {
    int sessions = 100;
    var body = "x".repeat((1 << 20) - 2);
    for (int i = 0; i < sessions; i++) {
      var message = "{\"sessionId\":\"s%d\",\"body\":\"%s\"}".formatted(i, body);
      assertThat(
              server.post("/queues/ORDERED/messages", "{\"messages\":[" + message + "]}").status())
          .isEqualTo(201);
    }
    var seen = new HashSet<String>();
    for (int round = 0; seen.size() < sessions; round++) {
      var request =
          "{\"requestId\":\"r%d\",\"take\":{\"sessions\":256,\"messages\":1,\"bytes\":1024}}"
              .formatted(round);
      for (int repetition = 0; repetition < 2; repetition++) {
        var reply = server.post("/queues/ORDERED/work", request);
        assertThat(reply.status()).as(reply.problem()).isEqualTo(200);
        var given = reply.json().get("sessions");
        assertThat(given.size()).isBetween(repetition == 0 ? 1 : 0, MOST_SESSIONS);
        for (var session : given) {
          assertThat(session.at("/messages/0/attempt").asInt()).isEqualTo(1);
          seen.add(session.get("sessionId").asString());
        }
      }
    }
    assertThat(server.get("/queues/ORDERED").json().get("dead").asInt()).isZero();
  }

  @Test
  void aRoundOverManySessionsWithLargeStatesTakesOnlyWhatFits() {
    int sessions = 100;
    var state = Base64.getEncoder().encodeToString(new byte[SessionState.MAX_BYTES]);
    for (int i = 0; i < sessions; i++) {
      var two =
          "{\"sessionId\":\"s%1$d\",\"body\":1},{\"sessionId\":\"s%1$d\",\"body\":2}".formatted(i);
      server.post("/queues/ORDERED/messages", "{\"messages\":[" + two + "]}");
    }
    for (int i = 0; i < sessions; i++) {
      var taken = work("a" + i, "", ",\"take\":{\"messages\":1}").get("sessions").get(0);
      var settle =
          "{\"leaseId\":\"%s\",\"completed\":[%d],\"state\":\"%s\",\"then\":\"release\"}"
              .formatted(
                  taken.get("leaseId").asString(),
                  taken.at("/messages/0/sequence").asLong(),
                  state);
      assertThat(work("b" + i, settle, "").at("/settled/0/outcome").asString())
          .isEqualTo("settled");
    }
    var given = new HashSet<String>();
    for (int i = 0; i < sessions && given.size() < sessions; i++) {
      var taken = work("c" + i, "", ",\"take\":{\"sessions\":256}").get("sessions");
      assertThat(taken.size()).isLessThanOrEqualTo(MOST_SESSIONS);
      for (var session : taken) {
        assertThat(session.at("/messages/0/attempt").asInt()).isEqualTo(1);
        assertThat(session.get("state").asString()).hasSize(state.length());
        given.add(session.get("sessionId").asString());
      }
    }
  }

  private tools.jackson.databind.JsonNode work(String id, String settle, String more) {
    var reply =
        server.post(
            "/queues/ORDERED/work",
            "{\"requestId\":\"%s\",\"settle\":[%s]%s}".formatted(id, settle, more));
    assertThat(reply.status()).as(reply.problem()).isEqualTo(200);
    return reply.json();
  }

  @Test
  void aPageOfLargeDeadLettersHoldsOnlyWhatFits() {
    send("UNORDERED", "");
    for (int i = 0; i < MESSAGES; ) {
      for (var message :
          messages(server.post("/queues/UNORDERED/receive", "{\"max\":1000}").json())) {
        server.post(
            "/queues/UNORDERED/settlements",
            "{\"settlements\":[{\"receipt\":\"%s\",\"action\":\"deadLetter\",\"reason\":\"bad\"}]}"
                .formatted(message.get("receipt").asString()));
        i++;
      }
    }
    int found = 0;
    for (var cursor = ""; cursor != null; ) {
      var reply = server.get("/queues/UNORDERED/dead-letters?limit=1000" + cursor);
      assertThat(reply.status()).as(reply.problem()).isEqualTo(200);
      assertThat(reply.json().get("deadLetters").size()).isBetween(1, MOST_IN_ONE_ANSWER);
      found += reply.json().get("deadLetters").size();
      var next = reply.json().get("nextCursor");
      cursor = next == null ? null : "&cursor=" + next.asString();
    }
    assertThat(found).isEqualTo(MESSAGES);
  }

  private static List<JsonNode> messages(JsonNode batch) {
    var all = new ArrayList<JsonNode>();
    batch.get("messages").forEach(all::add);
    return all;
  }
}
