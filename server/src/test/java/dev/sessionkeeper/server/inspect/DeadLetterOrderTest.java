package dev.sessionkeeper.server.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Lists dead letters in both directions, page by page. */
class DeadLetterOrderTest {
  private static final int LETTERS = 7;
  private static final String SEARCH = "/queues/orders/dead-letters/search?";

  private final TestDatabase database = TestDatabase.create();

  private static void fill(TestServer server) {
    server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
    for (int i = 0; i < LETTERS; i++) {
      server.post(
          "/queues/orders/messages",
          "{\"messages\":[{\"sessionId\":\"s-%d\",\"body\":{}}]}".formatted(i));
      server.post(
          "/queues/orders/sessions/actions",
          "{\"sessionId\":\"s-%d\",\"action\":\"deadLetterAll\",\"reason\":\"x\"}".formatted(i));
    }
  }

  private static List<String> walk(TestServer server, String query) {
    var seen = new ArrayList<String>();
    var cursor = "";
    do {
      var reply = server.get(SEARCH + query + "limit=3" + cursor);
      assertThat(reply.status()).as(reply.body()).isEqualTo(200);
      reply
          .json()
          .path("deadLetters")
          .forEach(letter -> seen.add(letter.path("sessionId").asString()));
      var next = reply.json().path("nextCursor").asString("");
      cursor = next.isEmpty() ? "" : "&cursor=" + next;
    } while (!cursor.isEmpty());
    return seen;
  }

  @Test
  void bothDirectionsShowEveryLetterOnce() {
    try (var server = TestServer.start("", database.environment())) {
      fill(server);
      var oldestFirst = IntStream.range(0, LETTERS).mapToObj(i -> "s-" + i).toList();
      assertThat(walk(server, "order=oldest&")).isEqualTo(oldestFirst);
      assertThat(walk(server, "order=newest&")).isEqualTo(oldestFirst.reversed());
      assertThat(walk(server, "")).isEqualTo(oldestFirst.reversed());
      assertThat(walk(server, "order=oldest&sessionId=s-3&")).containsExactly("s-3");
    }
  }

  @Test
  void aWrongOrderAndACursorOfTheOtherDirectionAreRefused() {
    try (var server = TestServer.start("", database.environment())) {
      fill(server);
      var cursor = server.get(SEARCH + "order=oldest&limit=3").json().path("nextCursor").asString();
      assertThat(server.get(SEARCH + "order=newest&limit=3&cursor=" + cursor).problem())
          .isEqualTo("invalid-cursor");
      assertThat(server.get(SEARCH + "order=loudest").status()).isEqualTo(400);
    }
  }

  @Test
  void aPageReadsNoMoreRowsThanItShowsInEitherDirection() throws SQLException {
    try (var server = TestServer.start("", database.environment())) {
      fill(server);
      for (var behind :
          List.of("d.id < 9223372036854775807 ORDER BY d.id DESC", "d.id > 0 ORDER BY d.id")) {
        assertThat(plan(behind)).contains("dead_letter_queue").doesNotContain("Sort");
      }
    }
  }

  /** Returns the plan of the inner query of a page, without the plan of small tables. */
  private String plan(String behind) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("SET enable_seqscan = off");
      var text = new StringBuilder();
      try (var rows =
          statement.executeQuery(
              "EXPLAIN SELECT * FROM keeper.dead_letter d WHERE d.queue = (SELECT k.id FROM keeper.queue k"
                  + " WHERE k.name = 'orders') AND "
                  + behind
                  + " LIMIT 4")) {
        while (rows.next()) {
          text.append(rows.getString(1)).append('\n');
        }
      }
      return text.toString();
    }
  }
}
