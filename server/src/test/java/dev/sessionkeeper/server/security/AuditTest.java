package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operators' acts on queues are recorded in the transaction of the act. */
class AuditTest {
  private final TestDatabase database = TestDatabase.create();
  private final ApiKeys.Generated ops = ApiKeys.generate();
  private TestServer server;

  @BeforeEach
  void start() {
    server =
        TestServer.start(
            "security: { keys: [ { name: ops, sha256: %s, roles: [admin] } ] }\n"
                .formatted(ops.sha256()),
            database.environment());
    call("PUT", "/queues/q", "{\"mode\":\"ORDERED\"}");
    call(
        "POST",
        "/queues/q/messages",
        "{\"messages\":[{\"sessionId\":\"s\",\"body\":1},{\"sessionId\":\"s\",\"body\":2}]}");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private TestServer.Reply call(String method, String path, String json) {
    return server.send(
        method,
        path,
        Optional.of(json).filter(text -> !text.isEmpty()),
        "Authorization",
        "Bearer " + ops.key());
  }

  private TestServer.Reply act(String action) {
    return call(
        "POST",
        "/queues/q/sessions/actions",
        "{\"sessionId\":\"s\",\"action\":\"%s\",\"reason\":\"ticket 7\"}".formatted(action));
  }

  private List<String> entries() throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT actor, action, target, reason FROM keeper.audit ORDER BY id")) {
      var entries = new ArrayList<String>();
      while (rows.next()) {
        entries.add(
            "%s %s %s: %s"
                .formatted(
                    rows.getString(1), rows.getString(2), rows.getString(3), rows.getString(4)));
      }
      return entries;
    }
  }

  private void execute(String sql) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void everyActHasItsEntry() throws SQLException {
    act("pause");
    act("resume");
    act("deadLetterAll");
    var letters = call("GET", "/queues/q/dead-letters", "").json().get("deadLetters");
    call("DELETE", "/queues/q/dead-letters/" + letters.get(0).get("id").asString(), "");
    call("POST", "/queues/q/dead-letters/replay", "{\"all\":true,\"dryRun\":true}");
    call("POST", "/queues/q/dead-letters/replay", "{\"all\":true}");
    call("DELETE", "/queues/q/dead-letters/123456", "");

    assertThat(entries())
        .satisfiesExactly(
            entry -> assertThat(entry).startsWith("ops queue.create q: "),
            entry -> assertThat(entry).isEqualTo("ops session.pause q/s: 1 affected; ticket 7"),
            entry -> assertThat(entry).isEqualTo("ops session.resume q/s: 1 affected; ticket 7"),
            entry ->
                assertThat(entry).isEqualTo("ops session.deadLetterAll q/s: 2 affected; ticket 7"),
            entry -> assertThat(entry).startsWith("ops dead-letters.discard q/"),
            entry ->
                assertThat(entry)
                    .isEqualTo("ops dead-letters.replay q: 1 dead letter of the queue"));
  }

  @Test
  void anActThatCannotBeWrittenDownDoesNotHappen() throws SQLException {
    execute("ALTER TABLE keeper.audit RENAME TO audit_away");
    assertThat(act("park").status()).isGreaterThanOrEqualTo(400);
    assertThat(act("deadLetterAll").status()).isGreaterThanOrEqualTo(400);
    assertThat(call("PUT", "/queues/another", "{\"mode\":\"ORDERED\"}").status())
        .isGreaterThanOrEqualTo(400);
    execute("ALTER TABLE keeper.audit_away RENAME TO audit");

    var session = call("GET", "/queues/q/sessions", "").json().get("sessions").get(0);
    assertThat(session.get("status").asString()).isEqualTo("ready");
    assertThat(session.get("backlog").asInt()).isEqualTo(2);
    assertThat(call("GET", "/queues/q/dead-letters", "").json().get("deadLetters")).isEmpty();
    assertThat(call("GET", "/queues/another", "").status()).isEqualTo(404);
    assertThat(entries()).hasSize(1);
  }

  private List<tools.jackson.databind.JsonNode> audit(String query) {
    var rows = new ArrayList<tools.jackson.databind.JsonNode>();
    call("GET", "/audit" + query, "").json().get("entries").forEach(rows::add);
    return rows;
  }

  @Test
  void reloadsEndedSessionsAndRefusalsHaveRowsWithTheAddressOfTheirCaller() {
    call("POST", "/admin/reload", "");
    server.rewrite("surprise: 1");
    call("POST", "/admin/reload", "");
    var session =
        call(
                "PUT",
                "/sessions",
                "{\"userObjectId\":\"%1$s\",\"tenantObjectId\":\"%1$s\",\"capacityId\":\"%1$s\",\"sessionKind\":1}"
                    .formatted(UUID.randomUUID()))
            .json()
            .get("sessionId")
            .asString();
    call("DELETE", "/sessions/" + session, "");
    call("DELETE", "/sessions/" + session, "");
    server.get("/queues");
    server.send("GET", "/jobs", Optional.empty(), "Sec-Fetch-Site", "cross-site");
    call("POST", "/jobs/event-retention/run", "");

    assertThat(audit("?action=config.reload"))
        .satisfiesExactly(
            row -> assertThat(row.get("reason").asString()).startsWith("refused with 1 errors"),
            row -> assertThat(row.get("reason").asString()).isEqualTo("Nothing was applied."));
    assertThat(audit("?target=" + session))
        .singleElement()
        .satisfies(
            row -> assertThat(row.get("action").asString()).isEqualTo("registry.session.end"));
    await()
        .untilAsserted(
            () ->
                assertThat(audit("?action=access.refused&actor=anonymous"))
                    .extracting(
                        row -> row.get("target").asString() + " " + row.get("reason").asString())
                    .containsExactlyInAnyOrder("GET /queues status 401", "GET /jobs status 403"));
    assertThat(audit("?action=job.run")).hasSize(1);
    assertThat(audit(""))
        .hasSizeGreaterThan(5)
        .allSatisfy(row -> assertThat(row.get("source").asString()).isEqualTo("127.0.0.1"));
  }

  @Test
  void theLogIsReadInPagesNewestFirstWithFilters() {
    for (int i = 0; i < 5; i++) {
      act("pause");
    }
    var first = call("GET", "/audit?limit=2", "").json();
    var second =
        call("GET", "/audit?limit=10&cursor=" + first.get("nextCursor").asString(), "").json();
    var ids = new ArrayList<Long>();
    first.get("entries").forEach(row -> ids.add(row.get("id").asLong()));
    second.get("entries").forEach(row -> ids.add(row.get("id").asLong()));
    assertThat(ids).hasSize(6).isSortedAccordingTo(Comparator.reverseOrder());
    var oldest = second.get("entries").get(3);
    assertThat(audit("?to=" + oldest.get("at").asString())).isEmpty();
    assertThat(audit("?from=" + oldest.get("at").asString())).hasSize(6);
    assertThat(audit("?actor=nobody-else")).isEmpty();
    assertThat(audit("?target=q/s")).hasSize(5);
    assertThat(call("GET", "/audit?cursor=x", "").problem()).isEqualTo("invalid-cursor");
  }

  @Test
  void aServerInMemoryCanBeAskedAsWell() {
    try (var memory = TestServer.start("")) {
      memory.put("/queues/q", "{\"mode\":\"ORDERED\"}");
      var entries = memory.get("/audit?action=queue.create").json().get("entries");
      assertThat(entries).hasSize(1);
      assertThat(entries.get(0).get("source").asString()).isEqualTo("127.0.0.1");
    }
  }
}
