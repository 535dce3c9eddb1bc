package dev.sessionkeeper.server.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.sql.SQLException;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rows are deleted after their retention, and a user's id on request. */
class RetentionTest {
  private final TestDatabase database = TestDatabase.create();
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.start("usage: { interval: 1s, period: 1h }\n", database.environment());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private long count(String sql) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private void run(String sql) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void oldHistoryIsForgottenAndTheRestStays() throws SQLException {
    run(
        """
        INSERT INTO keeper.last_value_dead (space, key, version, value, cause, at)
        SELECT 's', 'k', n, '', '', clock_timestamp() - n * interval '30 days' FROM generate_series(1, 6) n;
        INSERT INTO keeper.api_key (prefix, name, sha256, roles, created_by, revoked_at) VALUES
          ('sk_a', 'old', 'a', '{read}', 'ops', clock_timestamp() - interval '100 days'),
          ('sk_b', 'new', 'b', '{read}', 'ops', clock_timestamp() - interval '10 days'),
          ('sk_c', 'used', 'c', '{read}', 'ops', NULL);
        """);
    server.post("/jobs/history-retention/run", "{}");
    await()
        .untilAsserted(
            () -> {
              assertThat(count("SELECT count(*) FROM keeper.last_value_dead")).isEqualTo(2);
              assertThat(count("SELECT count(*) FROM keeper.api_key")).isEqualTo(2);
            });
  }

  @Test
  void anErasedUserIsNowhereAndBillingStillAddsUp() throws SQLException {
    var user = UUID.randomUUID();
    var tenant = UUID.randomUUID();
    var body =
        """
        {"tenantObjectId":"%s","userObjectId":"%s","capacityId":"%s","sessionKind":1}"""
            .formatted(tenant, user, UUID.randomUUID());
    var put = server.put("/sessions", body);
    assertThat(put.status()).as(put.body()).isBetween(200, 201);
    await().until(() -> count("SELECT count(*) FROM keeper.usage_ledger") > 0);
    var erased =
        server.post("/erasures", "{\"userObjectId\":\"%s\",\"reason\":\"asked\"}".formatted(user));
    assertThat(erased.status()).as(erased.body()).isEqualTo(201);
    assertThat(erased.json().get("sessionsEnded").asInt()).isEqualTo(1);
    assertThat(erased.json().get("ledgerRows").asInt()).isPositive();
    for (var table :
        new String[] {
          "registered_session", "usage_ledger", "stream_event", "stream_outbox", "audit"
        }) {
      assertThat(
              count(
                  "SELECT count(*) FROM keeper.%s t WHERE t::text LIKE '%%%s%%'"
                      .formatted(table, user)))
          .as(table)
          .isZero();
    }
    assertThat(
            server
                .get("/audit?action=user.erase")
                .json()
                .get("entries")
                .get(0)
                .get("target")
                .asString())
        .isEqualTo(erased.json().get("pseudonym").asString());
    var proof = server.get("/usages/proof?tenantObjectId=" + tenant).json();
    assertThat(proof.get("tenants").get(0).get("differences").get("ledger").asString())
        .isEqualTo("0");
  }
}
