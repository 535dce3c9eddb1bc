package dev.sessionkeeper.server.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rows are deleted after their retention, and a user's id on request. */
class RetentionTest {
  /** Every table, with the rule that bounds it. A developer who adds a table adds its rule here. */
  private static final String ENDS =
      """
      api_key             history-retention, once revoked
      ask                 its answer; housekeeping
      attempt             forget-attempts
      audit               audit-retention
      audit_chain         one row
      bot_hold            its end; housekeeping of the gateway
      bot_outage          the end of the outage; one for each bot
      bulk                history-retention, once finished
      bundle              settlement of its messages
      completion          folding into bundles
      dead_letter         dead-letter-retention
      discovery           one row for each queue
      duplicate           duplicateWindow; housekeeping
      failed_head         housekeeping, once its message has left its batch
      github_event        github-retention
      github_replay       history-retention, once finished
      github_route        github-retention
      job                 one row for each job
      job_run             a bounded number for each job
      lane                the last message of its session
      last_value          history-retention; samples and cursors are bounded by their features
      last_value_dead     history-retention
      late_session        place_late_sessions
      loose_message       settlement or messageTtl
      message             settlement or messageTtl
      metering_hold       one row
      queue               a person deletes it
      reader              the end of the reading; bury_readers
      reading             the end of the reading; bury_readers
      registered_session  none: the proof of usage needs starts and ends
      repaired_body       history-retention
      sent                housekeeping
      server_secret       a bounded number
      session_state       a handler clears it; session_state_retention
      shared_body         its last message
      stream              one row for each stream
      stream_event        event-retention
      stream_outbox       event-numbering
      stream_subscriber   history-retention
      tally               housekeeping folds it
      usage_batch         usage.retention
      usage_correction    one row for each correction of a clock
      usage_forgotten     one row for each tenant
      usage_lane          one row for each tenant
      usage_ledger        usage.retention
      usage_tenant        one row for each tenant
      work_request        work-requests
      write_probe         one row
      """;

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
  void ofEveryTableItIsKnownWhatEndsItsRows() throws SQLException {
    var known = ENDS.lines().map(line -> line.split(" ", 2)[0]).toList();
    var tables = new ArrayList<String>();
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'keeper' AND tablename NOT"
                    + " LIKE 'schema_history_%'")) {
      while (rows.next()) {
        tables.add(rows.getString(1));
      }
    }
    assertThat(tables).containsExactlyInAnyOrderElementsOf(known);
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
  void subscribersThatStayAwayAreForgottenWithTheirPositions() throws SQLException {
    run(
        """
        INSERT INTO keeper.stream_subscriber (stream, name, credential, seen_at) VALUES
          ('news', 'gone', 'ops', clock_timestamp() - interval '100 days'),
          ('news', 'idle', 'ops', clock_timestamp() - interval '10 days');
        INSERT INTO keeper.last_value (space, key, version, value, at) VALUES
          ('stream-cursors', 'news/gone', 1, '7', clock_timestamp() - interval '100 days'),
          ('stream-cursors', 'news/idle', 1, '7', clock_timestamp() - interval '100 days');
        """);
    server.post("/jobs/history-retention/run", "{}");
    await()
        .untilAsserted(
            () -> assertThat(count("SELECT count(*) FROM keeper.stream_subscriber")).isEqualTo(1));
    await()
        .untilAsserted(
            () ->
                assertThat(
                        count(
                            "SELECT count(*) FROM keeper.last_value WHERE space = 'stream-cursors'"))
                    .isEqualTo(1));
    assertThat(count("SELECT count(*) FROM keeper.last_value WHERE key = 'news/idle'"))
        .isEqualTo(1);
  }

  @Test
  void statesOfSessionsAreKeptUnlessTheyHaveARetention() throws SQLException {
    server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
    run(
        """
        INSERT INTO keeper.session_state (queue, session, version, bytes, updated_at)
        SELECT id, 's' || n, 1, 'x', clock_timestamp() - n * interval '30 days'
          FROM keeper.queue, generate_series(1, 4) n;
        INSERT INTO keeper.last_value_dead (space, key, version, value, cause, at)
        VALUES ('s', 'k', 1, '', '', clock_timestamp() - interval '100 days');
        """);
    server.post("/jobs/history-retention/run", "{}");
    await().until(() -> count("SELECT count(*) FROM keeper.last_value_dead") == 0);
    assertThat(count("SELECT count(*) FROM keeper.session_state")).isEqualTo(4);
    server.close();
    server = TestServer.start("jobs: { session_state_retention: 45d }\n", database.environment());
    server.post("/jobs/history-retention/run", "{}");
    await()
        .untilAsserted(
            () -> assertThat(count("SELECT count(*) FROM keeper.session_state")).isEqualTo(1));
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
