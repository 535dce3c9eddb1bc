package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.store.AuditChain;
import dev.sessionkeeper.store.Database;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The audit log can be exported, and a change of it is detected. */
class AuditChainTest {
  private final TestDatabase database = TestDatabase.create();
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.start("", database.environment());
    for (int i = 1; i <= 5; i++) {
      server.put("/queues/q" + i, "{\"mode\":\"ORDERED\"}");
    }
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private JsonNode verify() {
    return server.get("/audit/verify").json();
  }

  private void run(String sql) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private int forget(Duration age) {
    return Database.of(database.source())
        .<Integer>inTransaction(connection -> AuditChain.forget(connection, age, 2));
  }

  @Test
  void anExportHasEveryActInOrderWithSourceAndHashes() {
    var lines = server.get("/audit/export").body().lines().toList();
    assertThat(lines).hasSizeGreaterThanOrEqualTo(5);
    assertThat(lines.getFirst()).contains("\"seq\":1").contains("\"previous\":\"\"");
    assertThat(lines).anyMatch(line -> line.contains("\"target\":\"q3\""));
    assertThat(lines).allMatch(line -> line.contains("\"source\":\"127.0.0.1\""));
    var second = server.get("/audit/export?after=1&limit=1").body().lines().toList();
    assertThat(second).containsExactly(lines.get(1));
    assertThat(verify().get("intact").asBoolean()).isTrue();
  }

  /** More than the buffers of both sockets hold, so the server waits for its reader. */
  private void addLargeEntries() throws SQLException {
    run(
        "INSERT INTO keeper.audit (actor, action, target, reason, details)"
            + " SELECT 'ann', 'session.park', 'orders/' || n, repeat('why ', 2000), ''"
            + " FROM generate_series(1, 4000) n");
  }

  private BufferedReader beginExport(HttpClient client) throws Exception {
    var request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:%d/audit/export".formatted(server.port())))
            .build();
    var answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
    assertThat(answer.statusCode()).isEqualTo(200);
    return new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
  }

  @Test
  void anExportIsReadInPagesWhileItIsSent() throws Exception {
    addLargeEntries();
    try (var client = HttpClient.newHttpClient();
        var export = beginExport(client)) {
      assertThat(export.readLine()).contains("\"seq\":1");
      run("UPDATE keeper.audit SET target = 'read late' WHERE target = 'orders/4000'");
      var rest = export.lines().toList();
      assertThat(rest).hasSize(4004);
      assertThat(rest.getLast()).contains("\"target\":\"read late\"");
      for (int i = 0; i < rest.size(); i++) {
        assertThat(rest.get(i)).contains("\"seq\":" + (i + 2) + ",");
      }
    }
  }

  @Test
  void anExportThatBreaksOffDoesNotLookComplete() throws Exception {
    addLargeEntries();
    try (var client = HttpClient.newHttpClient();
        var export = beginExport(client)) {
      assertThat(export.readLine()).contains("\"seq\":1");
      run("ALTER TABLE keeper.audit RENAME TO audit_away");
      assertThatThrownBy(
              () -> {
                while (export.readLine() != null) {
                  // Reads on to the end.
                }
              })
          .isInstanceOf(IOException.class);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UPDATE keeper.audit SET target = 'other' WHERE seq = 3 | 3",
        "UPDATE keeper.audit SET actor = 'nobody' WHERE seq = 2 | 2",
        "DELETE FROM keeper.audit WHERE seq = 3 | 3",
        "DELETE FROM keeper.audit WHERE seq = (SELECT max(seq) FROM keeper.audit) | 5",
      })
  void aChangedOrRemovedEntryIsFound(String change, long at) throws SQLException {
    assertThat(verify().get("entries").asLong()).isEqualTo(5);
    run(change);
    assertThat(verify().get("intact").asBoolean()).isFalse();
    assertThat(verify().get("brokenAt").asLong()).isEqualTo(at);
  }

  @Test
  void retentionShortensTheChainFromTheFrontAndItStillHolds() throws SQLException {
    verify();
    assertThat(forget(Duration.ZERO)).isEqualTo(2);
    assertThat(forget(Duration.ofDays(1))).isZero();
    server.put("/queues/more", "{\"mode\":\"ORDERED\"}");
    var now = verify();
    assertThat(now.get("intact").asBoolean()).isTrue();
    assertThat(now.get("forgotten").asLong()).isEqualTo(2);
    assertThat(now.get("entries").asLong()).isEqualTo(4);
    assertThat(server.get("/audit/export").body().lines().toList())
        .hasSize(4)
        .first()
        .asString()
        .contains("\"seq\":3");
  }
}
