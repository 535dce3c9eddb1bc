package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.store.Database;
import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Compares the time used, from the starts and ends of sessions, with the time billed, from the
 * ledger.
 *
 * <p>The time of a session does not come from metering's watermark. The watermark only says how
 * much of the newest time is still to be metered, and only for a bounded age: one slot, one more
 * slot for locked rows, and a minute for a late run. Older time that is missing in the ledger is a
 * difference, whatever the watermark says. While metering is held, the moment before the jump
 * counts as now.
 */
final class ProveUsage {
  private static final Duration LATE = Duration.ofMinutes(1);

  // One statement, so all sums belong to the same snapshot.
  private static final String SUMS =
      """
      WITH clock AS MATERIALIZED (
        SELECT n AS now, n + ? * interval '1 microsecond' AS latest,
               to_timestamp(floor(extract(epoch FROM least(n, h.held_at - h.jump_micros * interval '1 microsecond'))
                                  * 1000000 / i) * i / 1000000)
                 - i * interval '1 microsecond' - ? * interval '1 microsecond' AS due
          FROM (SELECT keeper.now() AS n, ?::bigint AS i) t
          LEFT JOIN keeper.metering_hold h ON h.released_at IS NULL),
      active AS (
        SELECT tenant_id,
               sum(extract(epoch FROM greatest(until - started_at, interval '0')) * 1000000
                   * factor_milli) AS w,
               sum(extract(epoch FROM greatest(until - greatest(metered_through, due), interval '0')) * 1000000
                   * factor_milli) AS unmetered
          FROM keeper.registered_session, clock,
               LATERAL (SELECT least(coalesce(ended_at, expires_at), greatest(now, metered_through), latest)
                               AS until) u
         WHERE :tenant
         GROUP BY tenant_id),
      corrected AS (
        SELECT tenant_id, sum(wmicros) AS w FROM keeper.usage_correction WHERE :tenant GROUP BY tenant_id),
      ledger AS (
        SELECT tenant_id, sum(wmicros) AS w FROM keeper.usage_ledger WHERE :tenant GROUP BY tenant_id),
      batches AS (
        SELECT tenant_id, sum(sum_wmicros) AS w,
               sum(sum_wmicros) FILTER (WHERE state = 'acknowledged') AS acknowledged,
               sum(sum_wmicros) FILTER (WHERE state = 'pending') AS pending,
               sum(sum_wmicros) FILTER (WHERE state = 'dead') AS dead
          FROM keeper.usage_batch
         WHERE :tenant
         GROUP BY tenant_id),
      forgotten AS (
        SELECT tenant_id, wmicros AS w FROM keeper.usage_forgotten WHERE :tenant)
      SELECT tenant_id, active.w AS active, active.unmetered, corrected.w AS corrections,
             ledger.w AS ledger, batches.w AS batches, acknowledged, pending, dead,
             forgotten.w AS forgotten
        FROM active
        FULL JOIN corrected USING (tenant_id)
        FULL JOIN ledger USING (tenant_id)
        FULL JOIN batches USING (tenant_id)
        FULL JOIN forgotten USING (tenant_id)
       ORDER BY tenant_id
      """; // Of one tenant: registered_session_tenant, usage_ledger_period, usage_batch's key.

  private static final String OF_ALL = SUMS.replace(":tenant", "true");
  private static final String OF_ONE = SUMS.replace(":tenant", "tenant_id = ?");
  private static final int TENANTS_OF_ONE = 5;

  private static final String OLDEST =
      """
      WITH clock AS MATERIALIZED (SELECT keeper.now() AS now)
      SELECT coalesce(max(extract(epoch FROM now - metered_through) * 1000000), 0)::bigint
        FROM keeper.registered_session, clock
       WHERE NOT closed AND metered_through < least(coalesce(ended_at, expires_at), now)
      """; // registered_session_open: as many rows as are open, however long the history is

  private final Database database;
  private final UsageOptions options;

  ProveUsage(Database database, UsageOptions options) {
    this.database = database;
    this.options = options;
  }

  List<UsageProof> read(Optional<UUID> tenant) {
    return database.withConnection(
        connection -> {
          var sql = tenant.isPresent() ? OF_ONE : OF_ALL;
          try (var statement = connection.prepareStatement(sql)) {
            set(statement, tenant);
            try (var rows = statement.executeQuery()) {
              var proofs = new ArrayList<UsageProof>();
              while (rows.next()) {
                proofs.add(proof(rows));
              }
              return proofs;
            }
          }
        });
  }

  private void set(PreparedStatement statement, Optional<UUID> tenant) throws SQLException {
    statement.setLong(1, micros(options.tolerance()));
    statement.setLong(2, micros(LATE));
    statement.setLong(3, micros(options.interval()));
    if (tenant.isPresent()) {
      for (int i = 0; i < TENANTS_OF_ONE; i++) {
        statement.setObject(4 + i, tenant.get());
      }
    }
  }

  private static long micros(Duration time) {
    return time.toNanos() / 1000;
  }

  private static UsageProof proof(ResultSet rows) throws SQLException {
    return new UsageProof(
        rows.getObject("tenant_id", UUID.class),
        micros(rows, "active"),
        micros(rows, "unmetered"),
        micros(rows, "corrections"),
        micros(rows, "ledger"),
        micros(rows, "batches"),
        micros(rows, "acknowledged"),
        micros(rows, "pending"),
        micros(rows, "dead"),
        micros(rows, "forgotten"));
  }

  private static BigDecimal micros(ResultSet rows, String column) throws SQLException {
    var weighted = rows.getBigDecimal(column);
    return weighted == null ? BigDecimal.ZERO : UsageProof.plain(weighted.movePointLeft(3));
  }

  Duration oldestUnmetered() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(OLDEST)) {
            rows.next();
            return Duration.of(rows.getLong(1), ChronoUnit.MICROS);
          }
        });
  }
}
