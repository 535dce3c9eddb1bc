package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.store.Columns;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Appends ledger rows and their batches, in the caller's transaction.
 *
 * <p>Batch numbers are taken under the lock of the tenant's row, and tenants in the order of their
 * ids: so there are neither gaps nor deadlocks.
 */
final class WriteLedger {
  private static final String TAKE_NUMBERS =
      """
      WITH tenants AS (SELECT tenant FROM unnest(?::uuid[]) AS tenant ORDER BY tenant),
      lanes AS (
        INSERT INTO keeper.usage_lane (tenant_id)
        SELECT tenant FROM tenants
        ON CONFLICT (tenant_id) DO NOTHING)
      INSERT INTO keeper.usage_tenant AS t (tenant_id, last_batch_no)
      SELECT tenant, 1 FROM tenants
      ON CONFLICT (tenant_id) DO UPDATE SET last_batch_no = t.last_batch_no + 1
      RETURNING tenant_id, last_batch_no
      """; // usage_tenant_pkey (tenant_id), usage_lane_pkey (tenant_id)

  private static final String INSERT_BATCHES =
      """
      INSERT INTO keeper.usage_batch
             (batch_id, tenant_id, batch_no, records, sum_wmicros, sum_units, packed_body, body_sha256)
      SELECT * FROM unnest(?::uuid[], ?::uuid[], ?::bigint[], ?::int[], ?::numeric[], ?::numeric[],
                           ?::bytea[], ?::bytea[])
      """;

  private static final String INSERT_ROWS =
      """
      INSERT INTO keeper.usage_ledger
             (session_id, seq, type, tenant_id, user_id, capacity_id, kind, period_from, period_to,
              wmicros, units, batch_id, corrects)
      SELECT * FROM unnest(?::uuid[], ?::int[], ?::char[], ?::uuid[], ?::uuid[], ?::uuid[],
                           ?::smallint[], ?::timestamptz[], ?::timestamptz[], ?::numeric[],
                           ?::numeric[], ?::uuid[], ?::int[])
      """;

  // The database has the other columns of the session, so only computed values are sent.
  private static final String MOVE_AND_INSERT =
      """
      WITH moved AS (
        UPDATE keeper.registered_session s
           SET metered_through = timestamptz 'epoch' + v.through * interval '1 microsecond',
               metered_wmicros = s.metered_wmicros + (v.through - v.since)::numeric * s.factor_milli,
               meter_seq = s.meter_seq + 1,
               closed = s.ended_at IS NOT NULL
                        AND timestamptz 'epoch' + v.through * interval '1 microsecond' >= s.ended_at
          FROM unnest(?::tid[], ?::bigint[], ?::bigint[], ?::numeric[], ?::int[])
               AS v (place, since, through, units, batch)
         WHERE s.ctid = v.place
        RETURNING s.session_id, s.meter_seq, s.tenant_id, s.user_id, s.capacity_id, s.kind,
                  v.since, s.metered_through,
                  (v.through - v.since)::numeric * s.factor_milli AS wmicros, v.units, v.batch)
      INSERT INTO keeper.usage_ledger
             (session_id, seq, tenant_id, user_id, capacity_id, kind, period_from, period_to,
              wmicros, units, batch_id)
      SELECT m.session_id, m.meter_seq, m.tenant_id, m.user_id, m.capacity_id, m.kind,
             timestamptz 'epoch' + m.since * interval '1 microsecond', m.metered_through,
             m.wmicros, m.units, (?::uuid[])[m.batch]
        FROM moved m
      """; // By physical position, because the rows are locked.

  private WriteLedger() {}

  /** Moves the watermarks of locked sessions, and writes their rows and one batch per tenant. */
  static void writeMetered(Connection connection, List<MeterUsage.Used> used) throws SQLException {
    var batches = freeze(connection, used.stream().map(MeterUsage.Used::row).toList());
    Map<UUID, Integer> places = new HashMap<>();
    for (var batch : batches) {
      places.put(batch.tenantId(), places.size() + 1);
    }
    try (var statement = connection.prepareStatement(MOVE_AND_INSERT)) {
      var columns = new Columns<>(statement, used);
      columns.add("tid", u -> u.session().place());
      columns.addLongs(u -> micros(u.row().from()));
      columns.addLongs(u -> micros(u.row().to()));
      columns.add("numeric", u -> u.row().units());
      columns.addInts(u -> places.getOrDefault(u.row().tenantObjectId(), 0));
      columns.of(batches).add("uuid", FrozenBatch::batchId);
      if (statement.executeUpdate() != used.size()) {
        throw new IllegalStateException("A locked session was not there to be moved");
      }
    }
  }

  private static long micros(Instant at) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, at);
  }

  /** Writes the rows and one batch per tenant. */
  static void write(Connection connection, List<LedgerRow> rows) throws SQLException {
    insertRows(connection, rows, freeze(connection, rows));
  }

  private static List<FrozenBatch> freeze(Connection connection, List<LedgerRow> rows)
      throws SQLException {
    SortedMap<UUID, List<LedgerRow>> byTenant = new TreeMap<>();
    for (var row : rows) {
      byTenant.computeIfAbsent(row.tenantObjectId(), tenant -> new ArrayList<>()).add(row);
    }
    var numbers = takeNumbers(connection, byTenant.keySet());
    var batches = new ArrayList<FrozenBatch>();
    byTenant.forEach(
        (tenant, own) -> batches.add(FrozenBatch.of(tenant, number(numbers, tenant), own)));
    insertBatches(connection, batches);
    return batches;
  }

  private static long number(Map<UUID, Long> numbers, UUID tenant) {
    return numbers.getOrDefault(tenant, 0L);
  }

  private static Map<UUID, Long> takeNumbers(Connection connection, Collection<UUID> tenants)
      throws SQLException {
    try (var take = connection.prepareStatement(TAKE_NUMBERS)) {
      take.setArray(1, Columns.array(connection, "uuid", tenants));
      var numbers = new HashMap<UUID, Long>();
      try (var rows = take.executeQuery()) {
        while (rows.next()) {
          numbers.put(rows.getObject(1, UUID.class), rows.getLong(2));
        }
      }
      return numbers;
    }
  }

  private static void insertBatches(Connection connection, List<FrozenBatch> batches)
      throws SQLException {
    try (var statement = connection.prepareStatement(INSERT_BATCHES)) {
      var columns = new Columns<>(statement, batches);
      columns.add("uuid", FrozenBatch::batchId);
      columns.add("uuid", FrozenBatch::tenantId);
      columns.add("bigint", FrozenBatch::number);
      columns.add("int", FrozenBatch::records);
      columns.add("numeric", FrozenBatch::wmicros);
      columns.add("numeric", FrozenBatch::units);
      columns.addBytes(batch -> PackedBody.pack(batch.body()));
      columns.addBytes(FrozenBatch::sha256);
      statement.executeUpdate();
    }
  }

  private static void insertRows(
      Connection connection, List<LedgerRow> rows, List<FrozenBatch> batches) throws SQLException {
    Map<UUID, UUID> batchIds = new HashMap<>();
    batches.forEach(batch -> batchIds.put(batch.tenantId(), batch.batchId()));
    try (var statement = connection.prepareStatement(INSERT_ROWS)) {
      var columns = new Columns<>(statement, rows);
      columns.add("uuid", LedgerRow::sessionId);
      columns.add("int", LedgerRow::seq);
      columns.add("char", row -> row.type().letter());
      columns.add("uuid", LedgerRow::tenantObjectId);
      columns.add("uuid", LedgerRow::userObjectId);
      columns.add("uuid", LedgerRow::capacityId);
      columns.add("smallint", LedgerRow::kind);
      columns.add("timestamptz", LedgerRow::from);
      columns.add("timestamptz", LedgerRow::to);
      columns.add("numeric", LedgerRow::wmicros);
      columns.add("numeric", LedgerRow::units);
      columns.add("uuid", row -> batchIds.get(row.tenantObjectId()));
      columns.add("int", row -> row.corrects().orElse(null));
      statement.executeUpdate();
    }
  }
}
