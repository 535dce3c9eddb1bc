package dev.sessionkeeper.server.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.EventLog;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamsTest {
  private static Database database;
  private static StreamServer server;

  private final String stream = "s-" + UUID.randomUUID();
  private final String path = "/streams/" + stream + "/events";

  @BeforeAll
  static void start() throws IOException {
    database = Database.of(TestDatabase.create().source());
    server = StreamServer.in(database, StreamsConfig.ofDefaults(), 0);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private RawReader reader(String query, String... headers) throws IOException {
    return reader(server, query, headers);
  }

  private RawReader reader(StreamServer from, String query, String... headers) throws IOException {
    var reader = new RawReader(from.port(), path + query, headers);
    await().until(() -> reader.lines.contains("retry: 1000"));
    return reader;
  }

  private static void awaitIds(RawReader reader, long from, long to) {
    var expected = LongStream.rangeClosed(from, to).boxed().toList();
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(reader.ids()).isEqualTo(expected));
  }

  private void awaitCursor(String subscriber, long event) {
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                number(
                        "SELECT version FROM keeper.last_value WHERE key = '"
                            + stream
                            + "/"
                            + subscriber
                            + "'")
                    == event);
  }

  @Test
  void eventsComeAsPublished() throws Exception {
    try (var reader = reader("")) {
      assertThat(reader.lines).anyMatch(line -> line.startsWith("HTTP/1.1 200"));
      assertThat(reader.lines)
          .anyMatch(line -> line.matches("(?i)content-type: text/event-stream.*"));
      var answer =
          server.post(stream, "{\"event\":\"tick\",\"data\":{\"text\":\"line\\nbreak é\"}}");
      assertThat(answer.statusCode()).isEqualTo(201);
      assertThat(answer.body()).isEqualTo("{\"id\":1,\"duplicate\":false}");
      await()
          .untilAsserted(
              () ->
                  assertThat(reader.lines)
                      .containsSubsequence(
                          "id: 1", "event: tick", "data: {\"text\":\"line\\nbreak é\"}"));
    }
  }

  @Test
  void dataOverManyLinesStaysOneEvent() throws Exception {
    try (var reader = reader("")) {
      server.post(stream, "{\"data\": {\n  \"a\": 1\r\n}}");
      await()
          .untilAsserted(
              () ->
                  assertThat(reader.lines)
                      .containsSubsequence(
                          "event: message", "data: {", "data:   \"a\": 1", "data: }"));
    }
  }

  @Test
  void aReaderWithoutAnIdGetsWhatComes() throws Exception {
    server.publish(stream, 1, 3);
    try (var reader = reader("")) {
      server.publish(stream, 4, 5);
      awaitIds(reader, 4, 5);
    }
  }

  @Test
  void lastEventIdGetsTheRestAndGoesOnLive() throws Exception {
    server.publish(stream, 1, 25);
    try (var byHeader = reader("?lastEventId=3", "Last-Event-ID: 9");
        var byQuery = reader("?lastEventId=0")) {
      awaitIds(byHeader, 10, 25);
      server.publish(stream, 26, 28);
      awaitIds(byHeader, 10, 28);
      awaitIds(byQuery, 1, 28);
    }
  }

  @Test
  void aSubscriberResumesFromItsCursorAndWhatWasWrittenAfterItClosedDoesNotCount()
      throws Exception {
    try (var ann = reader("?subscriber=ann")) {
      server.publish(stream, 1, 20);
      awaitIds(ann, 1, 20);
      awaitCursor("ann", 20);
    }
    server.publish(stream, 21, 25);
    try (var again = reader("?subscriber=ann")) {
      awaitIds(again, 21, 25);
      awaitCursor("ann", 25);
    }
  }

  @Test
  void eventsWrittenJustBeforeTheReaderClosesComeAgainRatherThanGetLost() throws Exception {
    try (var ann = reader("?subscriber=ann")) {
      awaitCursor("ann", 0);
      server.publish(stream, 1, 3);
      awaitIds(ann, 1, 3);
    }
    try (var again = reader("?subscriber=ann")) {
      await().untilAsserted(() -> assertThat(again.ids()).endsWith(3L));
      assertThat(again.ids()).isSubsetOf(1L, 2L, 3L);
    }
  }

  @Test
  void aSubscriberThatLeftBeforeTheFirstEventMissesNothing() throws Exception {
    reader("?subscriber=bob").close();
    awaitCursor("bob", 0);
    server.publish(stream, 1, 2);
    try (var again = reader("?subscriber=bob")) {
      awaitIds(again, 1, 2);
    }
  }

  @Test
  void anIdGivenGoesBeforeTheStoredCursorWhichNeverFalls() throws Exception {
    server.publish(stream, 1, 5);
    try (var ann = reader("?subscriber=ann&lastEventId=0")) {
      awaitIds(ann, 1, 5);
      awaitCursor("ann", 5);
    }
    try (var both = reader("?subscriber=ann", "Last-Event-ID: 1")) {
      awaitIds(both, 2, 5);
    }
    awaitCursor("ann", 5);
  }

  @Test
  void cursorsOfOneNameAreOfTheirStreamAlone() throws Exception {
    server.publish("other-" + stream, 1, 9);
    try (var ann = reader("?subscriber=ann")) {
      server.publish(stream, 1, 2);
      awaitIds(ann, 1, 2);
    }
  }

  @Test
  void aRestartLosesAndRepeatsNothing() throws Exception {
    var first = StreamServer.in(database, StreamsConfig.ofDefaults(), 0);
    try (var byId = reader(first, "?lastEventId=0");
        var ann = reader(first, "?subscriber=ann")) {
      first.publish(stream, 1, 10);
      awaitIds(byId, 1, 10);
      awaitIds(ann, 1, 10);
      first.close();
      await().until(() -> byId.hasEnded() && ann.hasEnded());
      assertThat(byId.lines).as("a clean end of the last chunk").contains("0");
    }
    server.publish(stream, 11, 14);
    try (var byId = reader("", "Last-Event-ID: 10");
        var ann = reader("?subscriber=ann")) {
      awaitIds(byId, 11, 14);
      awaitIds(ann, 11, 14);
    }
  }

  @Test
  void anIdThatIsGoneIsToldByAGapEvent() throws Exception {
    server.publish(stream, 1, 10);
    forget(6);
    try (var reader = reader("?lastEventId=2")) {
      await()
          .untilAsserted(
              () ->
                  assertThat(reader.lines)
                      .containsSubsequence(
                          "id: 6",
                          "event: gap",
                          "data: {\"lastEventId\":2,\"firstId\":7}",
                          "id: 7",
                          "id: 10"));
    }
    try (var reader = reader("?lastEventId=6")) {
      awaitIds(reader, 7, 10);
      assertThat(reader.lines).doesNotContain("event: gap");
    }
  }

  @Test
  void anIdFromAnotherLifeOfTheStreamGetsAllThatIsKept() throws Exception {
    server.publish(stream, 1, 3);
    try (var reader = reader("?lastEventId=1000")) {
      await().untilAsserted(() -> assertThat(reader.ids()).containsExactly(0L, 1L, 2L, 3L));
      assertThat(reader.lines).contains("event: gap");
    }
  }

  @Test
  void aTextThatIsNoIdOfTheStreamGetsAllThatIsKept() throws Exception {
    server.publish(stream, 1, 3);
    try (var reader = reader("", "Last-Event-ID: evt_unknown")) {
      await().untilAsserted(() -> assertThat(reader.ids()).containsExactly(0L, 1L, 2L, 3L));
      assertThat(reader.lines).contains("event: gap");
    }
  }

  @Test
  void theListOfSubscribersShowsWhereEachOneIs() throws Exception {
    server.publish(stream, 1, 5);
    try (var ann = reader("?subscriber=ann&lastEventId=0")) {
      awaitIds(ann, 1, 5);
      awaitCursor("ann", 5);
    }
    server.publish(stream, 6, 8);
    assertThat(server.get("/streams/" + stream + "/subscribers").body())
        .isEqualTo(
            "{\"lastEventId\":8,\"subscribers\":[{\"name\":\"ann\",\"position\":5,\"behind\":3,\"acknowledges\":false}]}");
    assertThat(server.get("/streams/unread/subscribers").body())
        .isEqualTo("{\"lastEventId\":0,\"subscribers\":[]}");
  }

  @Test
  void anEventOfAnotherNodeComesByNotice() throws Exception {
    try (var other = StreamServer.in(database, StreamsConfig.ofDefaults(), 0);
        var reader = reader("?lastEventId=0")) {
      other.publish(stream, 1, 3);
      awaitIds(reader, 1, 3);
    }
  }

  @Test
  void retentionForgetsByAgeAndKeepsTheFirstId() throws Exception {
    server.publish(stream, 1, 10);
    database.doInTransaction(
        c -> {
          try (var s = c.createStatement()) {
            s.execute(
                "UPDATE keeper.stream_event SET at = at - interval '8 days' WHERE stream = '"
                    + stream
                    + "' AND id IN (1, 2, 4)");
          }
        });
    var log = new PostgresStreamLog(database);
    assertThat(log.forgetOlderThan(Duration.ofDays(7), 1_000)).isEqualTo(4);
    assertThat(log.bounds(stream)).isEqualTo(new StreamLog.Bounds(5, 10));
    assertThat(log.read(stream, 0, 100, Long.MAX_VALUE))
        .extracting(StreamEvent::id)
        .startsWith(5L)
        .hasSize(6);
    assertThat(log.forgetOlderThan(Duration.ofDays(7), 1_000)).isZero();
  }

  @Test
  void aPageOfTheLogHasNoMoreBytesThanAskedForButAtLeastOneEvent() {
    var stored = new PostgresStreamLog(database);
    var inMemory = new MemoryStreamLog(() -> Duration.ofDays(1), TimeSource.system());
    for (var log : List.of(stored, inMemory)) {
      for (int i = 0; i < 5; i++) {
        log.append(stream, List.of(NewEvent.of("tick", "x".repeat(1_000))));
      }
      assertThat(log.read(stream, 0, 100, 3_000))
          .extracting(StreamEvent::id)
          .containsExactly(1L, 2L, 3L);
      assertThat(log.read(stream, 1, 100, 2_999))
          .extracting(StreamEvent::id)
          .containsExactly(2L, 3L);
      assertThat(log.read(stream, 0, 2, 3_000)).hasSize(2);
      assertThat(log.read(stream, 3, 100, 1)).extracting(StreamEvent::id).containsExactly(4L);
      assertThat(log.read(stream, 5, 100, 3_000)).isEmpty();
    }
  }

  @Test
  void aReaderFarBehindCatchesUpInPages() throws Exception {
    database.doInTransaction(
        c -> {
          for (int i = 0; i < 3_000; i++) {
            EventLog.append(c, stream, "tick", "{\"n\":" + i + "}");
          }
        });
    try (var reader = reader("?lastEventId=0")) {
      awaitIds(reader, 1, 3_000);
      server.publish(stream, 3_001, 3_002);
      awaitIds(reader, 1, 3_002);
    }
  }

  @Test
  void whatAnotherNodeAppendsIsSeenToo() throws Exception {
    try (var reader = reader("")) {
      new PostgresStreamLog(database).append(stream, List.of(NewEvent.of("tick", "{}")));
      awaitIds(reader, 1, 1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?lastEventId=",
        "?lastEventId=a%20b",
        "?lastEventId=%C3%A9",
        "?lastEventId=99999999999999999999",
        "?subscriber=",
        "?subscriber=a/b",
        "?subscriber=%C3%A9",
        "?limit=0",
        "?ack=maybe",
        "?from=3"
      })
  void badQueriesAreRefused(String query) throws Exception {
    assertThat(server.get(path + query).statusCode()).isEqualTo(400);
  }

  @Test
  void aBadIdInTheHeaderIsRefusedByName() throws Exception {
    var answer = server.get(path, "Last-Event-ID", "a b");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("Last-Event-ID");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"data\":1,\"more\":2}",
        "{\"event\":\"\",\"data\":1}",
        "{\"event\":\"a\\nb\",\"data\":1}",
        "{\"event\":\"gap\",\"data\":1}",
        "{\"event\":7,\"data\":1}",
        "[]",
        "nonsense"
      })
  void badEventsAreRefusedAndNotStored(String body) throws Exception {
    assertThat(server.post(stream, body).statusCode()).isEqualTo(400);
    assertThat(new PostgresStreamLog(database).bounds(stream)).isEqualTo(StreamLog.Bounds.EMPTY);
  }

  @Test
  void streamsOfTheProductAreNotForPublishing() throws Exception {
    assertThat(server.post("keeper.registry", "{\"data\":1}").statusCode()).isEqualTo(400);
    assertThat(server.post("a~b", "{\"data\":1}").statusCode()).isEqualTo(400);
  }

  @Test
  void anEventThatIsTooLargeIsRefusedWithTheLimit() throws Exception {
    var answer = server.post(stream, "{\"data\":\"" + "x".repeat(1 << 20) + "\"}");
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.body()).contains("maxEventBytes");
  }

  @Test
  void anyJsonValueIsData() throws Exception {
    try (var reader = reader("")) {
      for (var value : List.of("null", "1.50", "\"text\"", "[1,2]", "true")) {
        server.post(stream, "{\"data\":" + value + "}");
      }
      await()
          .untilAsserted(
              () ->
                  assertThat(reader.lines)
                      .containsSubsequence(
                          "data: null",
                          "data: 1.50",
                          "data: \"text\"",
                          "data: [1,2]",
                          "data: true"));
    }
  }

  private void forget(long upTo) {
    database.doInTransaction(
        c -> {
          try (var s = c.createStatement()) {
            s.execute(
                "DELETE FROM keeper.stream_event WHERE stream = '"
                    + stream
                    + "' AND id <= "
                    + upTo);
            s.execute(
                "UPDATE keeper.stream SET first_id = "
                    + (upTo + 1)
                    + " WHERE name = '"
                    + stream
                    + "'");
          }
        });
  }

  private static long number(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getLong(1) : -1;
          }
        });
  }
}
