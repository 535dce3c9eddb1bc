package dev.sessionkeeper.registry.usage;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Appends ledger rows and the batches that carry them, in the caller's transaction.
 *
 * <p>Numbers of batches are taken under the lock of the tenant's row, tenants in the order of their
 * ids: without gaps, and without deadlocks.
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
             (batch_id, tenant_id, batch_no, records, sum_wmicros, sum_units, body, body_sha256)
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

  private WriteLedger() {}

  /** Writes the rows and one batch per tenant. */
  static void write(Connection connection, List<LedgerRow> rows) throws SQLException {
    SortedMap<UUID, List<LedgerRow>> byTenant = new TreeMap<>();
    for (var row : rows) {
      byTenant.computeIfAbsent(row.tenantObjectId(), tenant -> new ArrayList<>()).add(row);
    }
    var numbers = takeNumbers(connection, byTenant.keySet());
    var batches = new ArrayList<FrozenBatch>();
    byTenant.forEach(
        (tenant, own) -> batches.add(FrozenBatch.of(tenant, number(numbers, tenant), own)));
    insertBatches(connection, batches);
    insertRows(connection, rows, numbers);
  }

  private static long number(Map<UUID, Long> numbers, UUID tenant) {
    return numbers.getOrDefault(tenant, 0L);
  }

  private static Map<UUID, Long> takeNumbers(Connection connection, Collection<UUID> tenants)
      throws SQLException {
    try (var take = connection.prepareStatement(TAKE_NUMBERS)) {
      take.setArray(1, connection.createArrayOf("uuid", tenants.toArray()));
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
      columns.addBytes(FrozenBatch::body);
      columns.addBytes(FrozenBatch::sha256);
      statement.executeUpdate();
    }
  }

  private static void insertRows(
      Connection connection, List<LedgerRow> rows, Map<UUID, Long> numbers) throws SQLException {
    Map<UUID, UUID> batchIds = new HashMap<>();
    numbers.forEach((tenant, number) -> batchIds.put(tenant, FrozenBatch.idOf(tenant, number)));
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

  /** Sets one array parameter after the other. */
  static final class Columns<T> {
    private final PreparedStatement statement;
    private final List<T> rows;
    private int index;

    Columns(PreparedStatement statement, List<T> rows) {
      this.statement = statement;
      this.rows = rows;
    }

    void add(String type, Function<T, @Nullable Object> value) throws SQLException {
      var values = new Object[rows.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = value.apply(rows.get(i));
      }
      statement.setArray(++index, statement.getConnection().createArrayOf(type, values));
    }

    void addBytes(Function<T, byte[]> value) throws SQLException {
      var values = new byte[rows.size()][];
      for (int i = 0; i < values.length; i++) {
        values[i] = value.apply(rows.get(i));
      }
      statement.setArray(++index, statement.getConnection().createArrayOf("bytea", values));
    }
  }
}
