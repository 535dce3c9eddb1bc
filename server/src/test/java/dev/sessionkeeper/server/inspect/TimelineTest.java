package dev.sessionkeeper.server.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The history of a session, page by page. */
class TimelineTest {
  private static final int ACTS = 130;

  private static void act(TestServer server, String act, String reason) {
    var done =
        server.post(
            "/queues/orders/sessions/actions",
            "{\"sessionId\":\"cust-42\",\"action\":\"%s\",\"reason\":\"%s\"}"
                .formatted(act, reason));
    assertThat(done.status()).as(done.body()).isEqualTo(200);
  }

  private static JsonNode page(TestServer server, String before) {
    var reply = server.get("/queues/orders/session/timeline?sessionId=cust-42" + before);
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    return reply.json();
  }

  private static void send(TestServer server, int n) {
    var sent =
        server.post(
            "/queues/orders/messages",
            "{\"messages\":[{\"sessionId\":\"cust-42\",\"messageId\":\"m-%d\",\"body\":{\"n\":%d}}]}"
                .formatted(n, n));
    assertThat(sent.status()).as(sent.body()).isLessThan(300);
  }

  @Test
  void pagesOfAMixedHistoryHaveEachMomentOnceAndInOrder() {
    try (var server = TestServer.start("", TestDatabase.create().environment())) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      for (int i = 0; i < ACTS; i++) {
        act(server, i % 2 == 0 ? "pause" : "resume", "reason " + i);
        if (i < 20) {
          send(server, i);
          act(server, "deadLetterHead", "set aside " + i);
        }
      }
      List<String> texts = new ArrayList<>();
      List<String> times = new ArrayList<>();
      var before = "";
      int pages = 0;
      JsonNode page;
      do {
        page = page(server, before);
        pages++;
        for (var moment : page.path("moments")) {
          texts.add(moment.path("kind").asString() + " " + moment.path("text").asString());
          times.add(moment.path("at").asString());
        }
        before = "&before=" + times.getLast();
      } while (page.path("hasMore").asBoolean());

      assertThat(pages).isGreaterThan(1);
      assertThat(times).isSortedAccordingTo((one, other) -> instant(other).compareTo(instant(one)));
      assertThat(texts.stream().filter(text -> text.contains("reason"))).hasSize(ACTS);
      assertThat(texts.stream().filter(text -> text.startsWith("dead"))).hasSize(20);
      assertThat(texts).doesNotHaveDuplicates();
    }
  }

  private static java.time.Instant instant(String text) {
    return java.time.Instant.parse(text);
  }

  @Test
  void aReplayOfTheSessionIsInItsHistoryWithItsReason() {
    try (var server = TestServer.start("", TestDatabase.create().environment())) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      send(server, 1);
      act(server, "deadLetterHead", "the amount has a comma");
      var replayed =
          server.send(
              "POST",
              "/queues/orders/dead-letters/replay",
              Optional.of("{\"sessionId\":\"cust-42\"}"),
              "Keeper-Reason",
              "the%20parser%20takes%20commas");
      assertThat(replayed.json().path("replayed").asInt()).isEqualTo(1);

      assertThat(page(server, "").toString())
          .contains(
              "replayed dead letters: the parser takes commas", "1 dead letter of the session")
          .contains("set its first message aside: the amount has a comma");
    }
  }

  @Test
  void aReplayOfOneMessageNamesItInTheHistoryOfItsSession() {
    try (var server = TestServer.start("", TestDatabase.create().environment())) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      send(server, 1);
      act(server, "deadLetterHead", "the amount has a comma");
      var id =
          server
              .get("/queues/orders/dead-letters")
              .json()
              .path("deadLetters")
              .get(0)
              .path("messageId")
              .asString();
      var replayed =
          server.post(
              "/queues/orders/dead-letters/replay", "{\"messageIds\":[\"%s\"]}".formatted(id));
      assertThat(replayed.json().path("replayed").asInt()).isEqualTo(1);

      assertThat(page(server, "").toString()).contains("replayed dead letters: message " + id);
      var audit = server.get("/audit?target=orders/cust-42&action=dead-letters.replay").json();
      assertThat(audit.path("entries").size()).isEqualTo(1);
    }
  }
}
