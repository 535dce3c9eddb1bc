package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** One work request settles, renews and accepts, and may be repeated on any server. */
class WorkTest {
  private static TestServer memory;
  private static TestServer postgres;
  private static TestServer neighbour;

  private static TestDatabase database;

  @BeforeAll
  static void start() {
    database = TestDatabase.create();
    memory = TestServer.start("");
    postgres = TestServer.start("", database.environment());
    neighbour = TestServer.start("", database.environment());
  }

  @AfterAll
  static void stop() {
    memory.close();
    postgres.close();
    neighbour.close();
  }

  /** The store of the queues in a test. */
  enum Store {
    MEMORY,
    POSTGRES;

    TestServer server() {
      return this == MEMORY ? memory : postgres;
    }

    /** Returns another server of the same store, if there is one. */
    TestServer other() {
      return this == MEMORY ? memory : neighbour;
    }
  }

  private static String queue(TestServer server) {
    var queue = "work-" + UUID.randomUUID();
    assertThat(server.put("/queues/" + queue, "{\"mode\":\"ORDERED\"}").status()).isEqualTo(201);
    return queue;
  }

  private static void send(TestServer server, String queue, String session, int from, int to) {
    var messages =
        IntStream.rangeClosed(from, to)
            .mapToObj(n -> "{\"sessionId\":\"%s\",\"body\":%d}".formatted(session, n))
            .toList();
    var reply =
        server.post(
            "/queues/" + queue + "/messages",
            "{\"messages\":[" + String.join(",", messages) + "]}");
    assertThat(reply.status()).as(reply.body()).isEqualTo(201);
  }

  private static JsonNode work(TestServer server, String queue, String json) {
    var reply = server.post("/queues/" + queue + "/work", json);
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    return reply.json();
  }

  private static String take(String id, int sessions, int messages, String wait) {
    return "{\"requestId\":\"%s\",\"take\":{\"sessions\":%d,\"messages\":%d,\"wait\":\"%s\"}}"
        .formatted(id, sessions, messages, wait);
  }

  private static String settlements(JsonNode session, String action) {
    var all = new ArrayList<String>();
    for (var message : session.get("messages")) {
      all.add(
          "{\"sequence\":%d,\"action\":\"%s\"}"
              .formatted(message.get("sequence").asLong(), action));
    }
    return "[" + String.join(",", all) + "]";
  }

  private static String settle(JsonNode session, String action, String then) {
    return "{\"leaseId\":\"%s\",\"settlements\":%s,\"then\":\"%s\"}"
        .formatted(session.get("leaseId").asString(), settlements(session, action), then);
  }

  private static String round(String id, List<String> settles, String more) {
    return "{\"requestId\":\"%s\",\"settle\":[%s]%s}"
        .formatted(id, String.join(",", settles), more);
  }

  private static List<Integer> bodies(JsonNode session) {
    var all = new ArrayList<Integer>();
    session.get("messages").forEach(message -> all.add(message.get("body").asInt()));
    return all;
  }

  private static long depth(TestServer server, String queue) {
    return server.get("/queues/" + queue).json().get("depth").asLong();
  }

  @ParameterizedTest
  @EnumSource
  void oneRequestSettlesAndTakesTheNextSessionsAndMessages(Store store) {
    var server = store.server();
    var queue = queue(server);
    for (int i = 0; i < 5; i++) {
      send(server, queue, "s" + i, 1, 15);
    }
    var first = work(server, queue, take("r1", 3, 10, "PT5S")).get("sessions");
    assertThat(first).hasSize(3);
    first.forEach(
        session ->
            assertThat(bodies(session)).isEqualTo(IntStream.rangeClosed(1, 10).boxed().toList()));

    var settles = new ArrayList<String>();
    first.forEach(session -> settles.add(settle(session, "complete", "next")));
    var second =
        work(server, queue, round("r2", settles, ",\"take\":{\"sessions\":4,\"messages\":10}"));
    assertThat(second.get("settled").findValuesAsString("outcome"))
        .containsExactly("settled", "settled", "settled");
    // Three continue behind their tenth message, two were waiting.
    assertThat(second.get("sessions")).hasSize(5);
    for (int i = 0; i < 3; i++) {
      assertThat(bodies(second.get("sessions").get(i))).containsExactly(11, 12, 13, 14, 15);
    }
    var rest = new ArrayList<String>();
    second.get("sessions").forEach(session -> rest.add(settle(session, "complete", "next")));
    var third = work(server, queue, round("r3", rest, ""));
    assertThat(third.get("sessions")).hasSize(2);
    var last = new ArrayList<String>();
    third.get("sessions").forEach(session -> last.add(settle(session, "complete", "release")));
    work(server, queue, round("r4", last, ""));
    assertThat(depth(server, queue)).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void moreKeepsASessionThatHasNoMessages(Store store) {
    var server = store.server();
    var queue = queue(server);
    send(server, queue, "s", 1, 1);
    var session = work(server, queue, take("m1", 1, 10, "PT5S")).get("sessions").get(0);
    var nothingNew = ",\"take\":{\"sessions\":0,\"messages\":10}";

    var empty =
        work(server, queue, round("m2", List.of(settle(session, "complete", "more")), nothingNew));
    assertThat(empty.get("settled").findValuesAsString("outcome")).containsExactly("settled");
    assertThat(empty.get("sessions")).isEmpty();

    send(server, queue, "s", 2, 2);
    assertThat(work(server, queue, take("m3", 1, 10, "PT0S")).get("sessions")).isEmpty();
    var more =
        "{\"leaseId\":\"%s\",\"then\":\"more\"}".formatted(session.get("leaseId").asString());
    var next = work(server, queue, round("m4", List.of(more), nothingNew)).get("sessions").get(0);
    assertThat(next.get("leaseId")).isEqualTo(session.get("leaseId"));
    assertThat(bodies(next)).containsExactly(2);
  }

  @ParameterizedTest
  @EnumSource
  void aLostAnswerIsGivenAgainByAnyServerAndNothingIsDoneTwice(Store store) {
    var server = store.server();
    var queue = queue(server);
    for (int i = 0; i < 4; i++) {
      send(server, queue, "s" + i, 1, 3);
    }
    var taken = work(server, queue, take("lost", 2, 2, "PT5S"));
    var again = work(store.other(), queue, take("lost", 2, 2, "PT5S"));
    assertThat(taken.get("repeated").asBoolean()).isFalse();
    assertThat(again.get("repeated").asBoolean()).isTrue();
    assertThat(again.get("sessions").findValuesAsString("leaseId"))
        .isEqualTo(taken.get("sessions").findValuesAsString("leaseId"));
    for (int i = 0; i < 2; i++) {
      var messages = again.get("sessions").get(i).get("messages");
      assertThat(messages.findValuesAsString("messageId"))
          .isEqualTo(taken.get("sessions").get(i).get("messages").findValuesAsString("messageId"));
      assertThat(messages.findValuesAsString("attempt")).containsOnly("1");
    }
    assertThat(depth(server, queue)).isEqualTo(12);

    var settles = new ArrayList<String>();
    taken.get("sessions").forEach(session -> settles.add(settle(session, "complete", "release")));
    var settling = round("lost-too", settles, ",\"take\":{\"sessions\":1,\"messages\":1}");
    var settled = work(server, queue, settling);
    var repeated = work(store.other(), queue, settling);
    assertThat(repeated.get("settled").findValuesAsString("outcome"))
        .containsExactly("settled", "settled");
    assertThat(repeated.get("sessions").findValuesAsString("leaseId"))
        .isEqualTo(settled.get("sessions").findValuesAsString("leaseId"));
    assertThat(depth(server, queue)).isEqualTo(8);
  }

  /** The same request at the same time on two servers: its sessions are in one of the answers. */
  @Test
  void aRoundThatRunsTwiceAtOnceTakesItsSessionsOnce() {
    var queue = queue(postgres);
    for (int i = 0; i < 8; i++) {
      send(postgres, queue, "s" + i, 1, 1);
    }
    for (int round = 0; round < 4; round++) {
      var request = take("both-" + round, 2, 1, "PT5S");
      var calls =
          List.of(postgres, neighbour).stream()
              .map(server -> CompletableFuture.supplyAsync(() -> work(server, queue, request)))
              .toList();
      var leases = new HashSet<String>();
      calls.forEach(
          call -> leases.addAll(call.join().get("sessions").findValuesAsString("leaseId")));
      assertThat(leases).hasSizeLessThanOrEqualTo(2);
      var settles = new ArrayList<String>();
      var mine = work(postgres, queue, request).get("sessions");
      mine.forEach(session -> settles.add(settle(session, "complete", "release")));
      work(neighbour, queue, round("settle-" + round, settles, ""));
    }
    var rest = work(postgres, queue, take("rest", 8, 1, "PT2S"));
    assertThat(8 - depth(postgres, queue) + rest.get("sessions").size()).isEqualTo(8);
  }

  @ParameterizedTest
  @EnumSource
  void outcomesAreMixedAndStateIsWrittenWithThem(Store store) {
    var server = store.server();
    var queue = queue(server);
    for (var session : List.of("complete", "retry", "dead", "stale")) {
      send(server, queue, session, 1, 1);
    }
    var sessions = work(server, queue, take("m1", 4, 1, "PT5S")).get("sessions");
    assertThat(sessions).hasSize(4);
    var settles = new ArrayList<String>();
    var state =
        Base64.getEncoder()
            .encodeToString("memory".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    for (var session : sessions) {
      var lease = session.get("leaseId").asString();
      long sequence = session.get("messages").get(0).get("sequence").asLong();
      settles.add(
          switch (session.get("sessionId").asString()) {
            case "complete" ->
                "{\"leaseId\":\"%s\",\"settlements\":[{\"sequence\":%d,\"action\":\"complete\"}],\"state\":\"%s\"}"
                    .formatted(lease, sequence, state);
            case "retry" ->
                "{\"leaseId\":\"%s\",\"settlements\":[{\"sequence\":%d,\"action\":\"retry\",\"delay\":\"PT0S\"}],\"then\":\"release\"}"
                    .formatted(lease, sequence);
            case "dead" ->
                "{\"leaseId\":\"%s\",\"settlements\":[{\"sequence\":%d,\"action\":\"deadLetter\",\"reason\":\"no\"}]}"
                    .formatted(lease, sequence);
            default ->
                "{\"leaseId\":\"%s\",\"settlements\":[{\"sequence\":%d,\"action\":\"complete\"}],\"state\":\"%s\",\"stateVersion\":7}"
                    .formatted(lease, sequence, state);
          });
    }
    var lost = "{\"leaseId\":\"AAAA\",\"settlements\":[{\"sequence\":1,\"action\":\"complete\"}]}";
    settles.add(lost);
    var answer = work(server, queue, round("m2", settles, "")).get("settled");
    for (int i = 0; i < 4; i++) {
      boolean isStale = sessions.get(i).get("sessionId").asString().equals("stale");
      assertThat(answer.get(i).get("outcome").asString())
          .isEqualTo(isStale ? "staleState" : "settled");
    }
    assertThat(answer.get(4).get("outcome").asString()).isEqualTo("lost");
    assertThat(server.get("/queues/" + queue).json().get("dead").asLong()).isEqualTo(1);
    send(server, queue, "complete", 2, 2);
    var next = work(server, queue, take("m3", 2, 1, "PT5S")).get("sessions");
    var remembered = new ArrayList<String>();
    next.forEach(session -> remembered.add(session.path("state").asString("-") + bodies(session)));
    assertThat(remembered).contains(state + "[2]");
  }

  /** Otherwise a client could fill the store with requests that name leases it does not have. */
  @ParameterizedTest
  @EnumSource
  void aRequestThatChangedNothingIsNotRemembered(Store store) {
    var server = store.server();
    var queue = queue(server);
    var lost = "{\"leaseId\":\"AAAA\",\"completed\":[1]}";
    work(server, queue, round("n1", List.of(lost), ""));
    var again = work(server, queue, round("n1", List.of(lost), ""));
    assertThat(again.get("settled").get(0).get("outcome").asString()).isEqualTo("lost");
    assertThat(again.get("repeated").asBoolean()).isFalse();

    var waiting = ",\"take\":{\"wait\":\"PT0.1S\"}";
    work(server, queue, round("n2", List.of(lost), waiting));
    assertThat(work(server, queue, round("n2", List.of(lost), waiting)).get("repeated").asBoolean())
        .isFalse();
  }

  /** A refusal says that nothing was changed. */
  @ParameterizedTest
  @EnumSource
  void aRefusedRequestSettlesNothing(Store store) {
    var server = store.server();
    var queue = queue(server);
    send(server, queue, "a", 1, 1);
    send(server, queue, "b", 1, 1);
    var sessions = work(server, queue, take("x1", 2, 1, "PT5S")).get("sessions");
    assertThat(sessions).hasSize(2);
    var large = Base64.getEncoder().encodeToString(new byte[(256 << 10) + 1]);
    var settles =
        List.of(
            settle(sessions.get(0), "complete", "keep"),
            settle(sessions.get(1), "complete", "keep")
                .replaceFirst("\\{", "{\"state\":\"" + large + "\","));
    var refused = server.post("/queues/" + queue + "/work", round("x2", settles, ""));
    assertThat(refused.status()).as(refused.body()).isBetween(400, 499);
    assertThat(depth(server, queue)).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource
  void completedDeliveriesAreNamedByTheirSequencesAlone(Store store) {
    var server = store.server();
    var queue = queue(server);
    send(server, queue, "s", 1, 4);
    var session = work(server, queue, take("c1", 1, 4, "PT5S")).get("sessions").get(0);
    var sequences = session.get("messages").findValuesAsString("sequence");
    var settle =
        "{\"leaseId\":\"%s\",\"completed\":[%s,%s],\"settlements\":[{\"sequence\":%s,\"action\":\"retry\"}]}"
            .formatted(
                session.get("leaseId").asString(),
                sequences.get(0),
                sequences.get(1),
                sequences.get(2));
    var answer = work(server, queue, round("c2", List.of(settle), ""));
    assertThat(answer.get("settled").findValuesAsString("outcome")).containsExactly("settled");
    assertThat(depth(server, queue)).isEqualTo(2);
    var next = work(server, queue, take("c3", 1, 4, "PT5S")).get("sessions");
    var rest = answer.get("sessions").isEmpty() ? next.get(0) : answer.get("sessions").get(0);
    assertThat(bodies(rest)).containsExactly(3, 4);
  }

  @ParameterizedTest
  @EnumSource
  void leasesInHandAreRenewedAndLostOnesAreNamed(Store store) {
    var server = store.server();
    var queue = queue(server);
    send(server, queue, "s", 1, 1);
    var session = work(server, queue, take("k1", 1, 1, "PT5S")).get("sessions").get(0);
    var lease = session.get("leaseId").asString();
    var renew = "{\"requestId\":\"k2\",\"renew\":[\"" + lease + "\",\"AAAA\"]}";
    var renewed = work(store.other(), queue, renew).get("renewed");
    assertThat(renewed.get(0).get("held").asBoolean()).isTrue();
    assertThat(renewed.get(0).get("lockedUntil").asString())
        .isGreaterThanOrEqualTo(session.get("lockedUntil").asString());
    assertThat(renewed.get(1).get("held").asBoolean()).isFalse();
    // Any server honours the lease, and so do the routes for single calls.
    assertThat(
            store
                .other()
                .get("/queues/" + queue + "/leases/" + lease + "/messages")
                .json()
                .get("messages"))
        .hasSize(1);
  }

  @Test
  void aLeaseOutlivesTheServerThatHandedItOut() {
    var queue = queue(postgres);
    for (int i = 0; i < 3; i++) {
      send(postgres, queue, "s" + i, 1, 2);
    }
    var settles = new ArrayList<String>();
    try (var leaving = TestServer.start("", database.environment())) {
      work(leaving, queue, take("leaving", 3, 1, "PT5S"))
          .get("sessions")
          .forEach(session -> settles.add(settle(session, "complete", "next")));
    }
    assertThat(settles).hasSize(3);
    var answer = work(neighbour, queue, round("elsewhere", settles, ""));
    assertThat(answer.get("settled").findValuesAsString("outcome"))
        .containsExactly("settled", "settled", "settled");
    assertThat(answer.get("sessions")).hasSize(3);
    answer.get("sessions").forEach(session -> assertThat(bodies(session)).containsExactly(2));
  }

  /** A worker behind a load balancer presents each lease to another server than before. */
  @Test
  void serversTakeTurnsWithOneLease() {
    var queue = queue(postgres);
    send(postgres, queue, "s", 1, 6);
    var session = work(postgres, queue, take("turn-0", 1, 1, "PT5S")).get("sessions").get(0);
    for (int i = 1; i < 6; i++) {
      var server = i % 2 == 0 ? postgres : neighbour;
      var more = ",\"take\":{\"sessions\":1,\"messages\":1}";
      var answer =
          work(
              server,
              queue,
              round("turn-" + i, List.of(settle(session, "complete", "next")), more));
      assertThat(answer.get("settled").findValuesAsString("outcome")).containsExactly("settled");
      session = answer.get("sessions").get(0);
      assertThat(bodies(session)).containsExactly(i + 1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRoundWaitsForWorkAndEndsWithoutAny(Store store) throws Exception {
    var server = store.server();
    var queue = queue(server);
    assertThat(work(server, queue, take("w1", 1, 1, "PT0.2S")).get("sessions")).isEmpty();
    var waiting =
        CompletableFuture.supplyAsync(() -> work(server, queue, take("w2", 4, 1, "PT20S")));
    send(store.other(), queue, "s", 1, 1);
    assertThat(waiting.get().get("sessions")).hasSize(1);
  }

  @Test
  void badRoundsAreRefusedWithTheirFields() {
    var queue = queue(memory);
    var path = "/queues/" + queue + "/work";
    assertThat(memory.post(path, "{}").body()).contains("requestId");
    var twice = "{\"leaseId\":\"a\",\"settlements\":[]}";
    assertThat(memory.post(path, round("r", List.of(twice, twice), "")).body())
        .contains("each lease once");
    assertThat(memory.post(path, take("r", 257, 1, "PT1S")).status()).isEqualTo(400);
    assertThat(memory.post("/queues/none/work", take("r", 1, 1, "PT0S")).problem())
        .isEqualTo("unknown-queue");
  }
}
