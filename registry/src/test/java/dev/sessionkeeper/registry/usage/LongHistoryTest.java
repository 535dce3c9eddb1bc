package dev.sessionkeeper.registry.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionFilter;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.TestDatabase;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lists and the proof of a tenant read only what they show, however long the history is. */
@Tag("slow")
class LongHistoryTest {
  private static final Instant END = Instant.parse("2026-11-15T12:00:00Z");
  private static final UUID TENANT = UUID.fromString("00000000-0000-0000-0000-000000000007");
  private static TestDatabase db;
  private static Usage usage;
  private static SessionRegistry registry;

  /** 30,000 sessions of 1,000 tenants and capacities, ten minutes each, one after the other. */
  @BeforeAll
  static void thirtyThousandSessions() {
    db = new TestDatabase();
    db.setClock(END);
    usage = Usage.create(db.source, UsageOptions.defaults());
    registry = SessionRegistry.create(db.source, RegistryOptions.defaults());
    db.execute(
        """
        INSERT INTO keeper.registered_session
               (session_id, tenant_id, user_id, capacity_id, kind, factor_milli, period_micros, started_at,
                expires_at, ended_at, end_reason, metered_through, metered_wmicros, meter_seq, closed)
        SELECT keeper.session_id(at), id, gen_random_uuid(), id, 1, 1000, 2592000000000, at,
               at + interval '1 h', at + interval '10 min', 'ended', at + interval '10 min', 600000000000, 10, true
          FROM generate_series(1, 30000) n,
               LATERAL (SELECT timestamptz '2026-11-15T12:00:00Z' - (30001 - n) * interval '10 min' AS at,
                               ('00000000-0000-0000-0000-' || lpad((n % 1000)::text, 12, '0'))::uuid AS id) x
        """);
    db.execute(
        """
        INSERT INTO keeper.usage_ledger (session_id, seq, tenant_id, user_id, capacity_id, kind, period_from,
                                         period_to, wmicros, units, batch_id)
        SELECT session_id, seq, tenant_id, user_id, capacity_id, 1, started_at + (seq - 1) * interval '1 min',
               started_at + seq * interval '1 min', 60000000000, 0, gen_random_uuid()
          FROM keeper.registered_session, generate_series(1, 10) seq
         ORDER BY 7
        """);
    db.execute("ANALYZE keeper.registered_session");
    db.execute("ANALYZE keeper.usage_ledger");
  }

  @AfterAll
  static void close() {
    db.close();
  }

  @Test
  void theLedgerFromATimeOnReadsOnlyItsEnd() {
    long before = scans("usage_ledger_to");
    var page =
        usage.ledger(
            Optional.empty(),
            Optional.of(END.minusSeconds(3600)),
            Optional.empty(),
            Page.Request.first(100));
    assertThat(page.items()).hasSizeBetween(50, 70);
    await().until(() -> scans("usage_ledger_to") > before);
  }

  @Test
  void theSessionsOfACapacityAreFoundByTheirIndex() {
    long before = scans("registered_session_capacity");
    var filter =
        new SessionFilter(
            Optional.empty(), Optional.empty(), Optional.of(TENANT), Optional.empty());
    assertThat(registry.list(filter, Page.Request.first(100)).items()).hasSize(30);
    await().until(() -> scans("registered_session_capacity") > before);
  }

  @Test
  void theProofOfATenantReadsItsOwnRows() {
    long sessions = scans("registered_session_tenant");
    long rows = scans("usage_ledger_period");
    var proof = usage.proof(Optional.of(TENANT));
    assertThat(proof)
        .singleElement()
        .satisfies(
            its -> {
              assertThat(its.active()).isEqualByComparingTo(its.ledger());
              assertThat(its.ledger()).isEqualByComparingTo("18000000000");
            });
    await()
        .until(
            () ->
                scans("registered_session_tenant") > sessions
                    && scans("usage_ledger_period") > rows);
  }

  private static long scans(String index) {
    return db.number(
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '" + index + "'");
  }
}
