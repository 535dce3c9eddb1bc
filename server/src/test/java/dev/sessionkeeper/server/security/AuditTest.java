package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What people do to queues is written down, in the transaction in which they do it. */
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
            entry -> assertThat(entry).startsWith("ops dead-letters.replay q: 1 of "));
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
}
