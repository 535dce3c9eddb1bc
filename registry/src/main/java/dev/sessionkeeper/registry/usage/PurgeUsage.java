package dev.sessionkeeper.registry.usage;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Deletes old acknowledged batches with their ledger rows, oldest first, in small batches. Their
 * sums are kept, so the proof still adds up.
 *
 * <p>I1: a batch is deleted with all of its rows or not at all, and only if the rows add up to the
 * batch. I2: batches that wait or were refused stay, however old they are.
 */
record PurgeUsage(Duration age) {
  static final int AT_ONCE = 100;

  private static final String FORGET =
      """
      WITH old AS (SELECT keeper.now() - ? * interval '1 microsecond' AS at),
      chosen AS MATERIALIZED (
        SELECT b.batch_id, b.tenant_id, b.records, b.sum_wmicros
          FROM keeper.usage_batch b, old
         WHERE b.state = 'acknowledged' AND b.created_at < old.at AND b.settled_at < old.at
         ORDER BY b.created_at, b.batch_id
         LIMIT %d
           FOR UPDATE OF b SKIP LOCKED),
      rows AS (
        DELETE FROM keeper.usage_ledger l
         USING (SELECT DISTINCT tenant_id FROM chosen) t, old
         WHERE l.tenant_id = t.tenant_id AND l.period_from < old.at
           AND l.batch_id IN (SELECT batch_id FROM chosen)
        RETURNING l.batch_id, l.wmicros),
      gone AS (DELETE FROM keeper.usage_batch b USING chosen c WHERE b.batch_id = c.batch_id),
      sums AS (SELECT batch_id, count(*) AS records, sum(wmicros) AS wmicros FROM rows GROUP BY batch_id),
      kept AS (
        INSERT INTO keeper.usage_forgotten AS f (tenant_id, batches, records, wmicros)
        SELECT tenant_id, count(*), sum(records), sum(sum_wmicros) FROM chosen GROUP BY tenant_id ORDER BY tenant_id
        ON CONFLICT (tenant_id) DO UPDATE
           SET batches = f.batches + EXCLUDED.batches, records = f.records + EXCLUDED.records,
               wmicros = f.wmicros + EXCLUDED.wmicros)
      SELECT count(*),
             (array_agg(c.batch_id) FILTER (WHERE (s.records, s.wmicros) IS DISTINCT FROM (c.records, c.sum_wmicros)))[1]
        FROM chosen c LEFT JOIN sums s USING (batch_id)
      """
          .formatted(AT_ONCE); // usage_batch_state (state, created_at), usage_ledger_period

  /**
   * Deletes some batches, in the caller's transaction.
   *
   * @return how many batches
   * @throws IllegalStateException if a batch and its rows do not add up; the caller rolls back
   */
  int step(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(FORGET)) {
      statement.setLong(1, age.toNanos() / 1000);
      try (var rows = statement.executeQuery()) {
        rows.next();
        var wrong = rows.getString(2);
        if (wrong != null) {
          throw new IllegalStateException(
              "Batch " + wrong + " and its ledger rows do not add up; nothing was forgotten");
        }
        return rows.getInt(1);
      }
    }
  }
}
