package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.store.Database;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The sums of one tenant, from four independent places, in microseconds times factor.
 *
 * @param active the time of the sessions themselves, as far as it is metered
 * @param corrections what corrections have changed
 * @param ledger the rows of the ledger
 * @param batches what was frozen to be sent
 * @param acknowledged what the receiver has
 * @param pending what it will have
 * @param dead what it refused
 * @param forgotten what it acknowledged so long ago that only the sum is left; it is in none of
 *     ledger, batches and acknowledged
 */
public record UsageProof(
    UUID tenantObjectId,
    BigDecimal active,
    BigDecimal corrections,
    BigDecimal ledger,
    BigDecimal batches,
    BigDecimal acknowledged,
    BigDecimal pending,
    BigDecimal dead,
    BigDecimal forgotten) {
  // One statement, so one snapshot: the sums are of the same moment.
  private static final String SUMS =
      """
      WITH wanted AS (SELECT ?::uuid AS tenant),
      active AS (
        SELECT tenant_id,
               sum(extract(epoch FROM metered_through - started_at) * 1000000 * factor_milli) AS w
          FROM keeper.registered_session, wanted
         WHERE tenant IS NULL OR tenant_id = tenant
         GROUP BY tenant_id),
      corrected AS (
        SELECT tenant_id, sum(wmicros) AS w
          FROM keeper.usage_correction, wanted
         WHERE tenant IS NULL OR tenant_id = tenant
         GROUP BY tenant_id),
      ledger AS (
        SELECT tenant_id, sum(wmicros) AS w
          FROM keeper.usage_ledger, wanted
         WHERE tenant IS NULL OR tenant_id = tenant
         GROUP BY tenant_id),
      batches AS (
        SELECT tenant_id, sum(sum_wmicros) AS w,
               sum(sum_wmicros) FILTER (WHERE state = 'acknowledged') AS acknowledged,
               sum(sum_wmicros) FILTER (WHERE state = 'pending') AS pending,
               sum(sum_wmicros) FILTER (WHERE state = 'dead') AS dead
          FROM keeper.usage_batch, wanted
         WHERE tenant IS NULL OR tenant_id = tenant
         GROUP BY tenant_id),
      forgotten AS (
        SELECT tenant_id, wmicros AS w
          FROM keeper.usage_forgotten, wanted
         WHERE tenant IS NULL OR tenant_id = tenant)
      SELECT tenant_id, active.w AS active, corrected.w AS corrections, ledger.w AS ledger,
             batches.w AS batches, acknowledged, pending, dead, forgotten.w AS forgotten
        FROM active
        FULL JOIN corrected USING (tenant_id)
        FULL JOIN ledger USING (tenant_id)
        FULL JOIN batches USING (tenant_id)
        FULL JOIN forgotten USING (tenant_id)
       ORDER BY tenant_id
      """;

  static List<UsageProof> read(Database database, Optional<UUID> tenant) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(SUMS)) {
            statement.setObject(1, tenant.orElse(null), java.sql.Types.OTHER);
            try (var rows = statement.executeQuery()) {
              var proofs = new ArrayList<UsageProof>();
              while (rows.next()) {
                proofs.add(read(rows));
              }
              return proofs;
            }
          }
        });
  }

  private static UsageProof read(ResultSet rows) throws SQLException {
    return new UsageProof(
        rows.getObject("tenant_id", UUID.class),
        micros(rows, "active"),
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
    return weighted == null ? BigDecimal.ZERO : plain(weighted.movePointLeft(3));
  }

  private static BigDecimal plain(BigDecimal value) {
    var stripped = value.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  /** Time that is not in the ledger, or the other way round. */
  public BigDecimal ledgerDifference() {
    return plain(active.add(corrections).subtract(ledger).subtract(forgotten));
  }

  /** Ledger rows that are not in a batch, or the other way round. */
  public BigDecimal batchDifference() {
    return plain(ledger.subtract(batches));
  }

  /** Batches that are neither acknowledged nor on their way. */
  public BigDecimal acknowledgedDifference() {
    return plain(batches.subtract(acknowledged).subtract(pending).subtract(dead));
  }

  public boolean isExact() {
    return ledgerDifference().signum() == 0
        && batchDifference().signum() == 0
        && acknowledgedDifference().signum() == 0;
  }
}
