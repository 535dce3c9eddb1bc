package dev.sessionkeeper.server.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Searches sessions by status and by the beginning of the id. */
class SessionSearchTest {
  private static List<String> ids(JsonNode answer) {
    return answer
        .path("sessions")
        .valueStream()
        .map(one -> one.path("sessionId").asString())
        .toList();
  }

  private static JsonNode search(TestServer server, String query) {
    var reply = server.get("/queues/orders/sessions/search?" + query);
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    return reply.json();
  }

  private static void send(TestServer server, String session, int messages) {
    for (int i = 0; i < messages; i++) {
      server.post(
          "/queues/orders/messages",
          "{\"messages\":[{\"sessionId\":\"%s\",\"body\":{}}]}".formatted(session));
    }
  }

  @Test
  void sessionsThatNoConsumerHasLookedAtAreListedAsReady() {
    try (var server = TestServer.start("", TestDatabase.create().environment())) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      for (var session : List.of("a-1", "a-2", "b-1", "b-2", "b-3")) {
        send(server, session, 2);
      }
      server.post(
          "/queues/orders/sessions/actions",
          "{\"sessionId\":\"b-2\",\"action\":\"park\",\"reason\":\"x\"}");

      var ready = search(server, "status=ready");
      assertThat(ids(ready)).containsExactly("a-1", "a-2", "b-1", "b-3");
      assertThat(ready.path("sessions").get(0).path("backlog").asInt()).isEqualTo(2);
      assertThat(ids(search(server, "status=ready&prefix=b-"))).containsExactly("b-1", "b-3");
      assertThat(ids(search(server, "status=attention"))).containsExactly("b-2");

      var seen = new ArrayList<String>();
      var cursor = "";
      do {
        var page = search(server, "status=ready&limit=1" + cursor);
        seen.addAll(ids(page));
        cursor = page.has("nextCursor") ? "&cursor=" + page.path("nextCursor").asString() : "";
      } while (!cursor.isEmpty());
      assertThat(seen).containsExactly("a-1", "a-2", "b-1", "b-3");
    }
  }

  @Test
  void aFilterThatNoStatusHasIsRefused() {
    try (var server = TestServer.start("", TestDatabase.create().environment())) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      assertThat(server.get("/queues/orders/sessions/search?status=lost").status()).isEqualTo(400);
    }
  }
}
