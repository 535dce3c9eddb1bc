package dev.sessionkeeper.registry.usage;

/** Queries whose result must be 0. */
final class Ledgers {
  /** Finds rows that do not begin where the previous one ended, or at the session's start. */
  static final String GAPS_AND_OVERLAPS =
      """
      SELECT count(*) FROM (
        SELECT l.period_from,
               coalesce(lag(l.period_to) OVER (PARTITION BY l.session_id ORDER BY l.seq), s.started_at) AS before
          FROM keeper.usage_ledger l JOIN keeper.registered_session s USING (session_id)
         WHERE l.type = 'U') r
       WHERE period_from <> before
      """;

  /** Finds sessions whose ledger differs from their time. */
  static final String NOT_THE_INTEGRAL =
      """
      SELECT count(*) FROM keeper.registered_session s
       WHERE extract(epoch FROM metered_through - started_at) * 1000000 * factor_milli
             <> coalesce((SELECT sum(wmicros) FROM keeper.usage_ledger l
                           WHERE l.session_id = s.session_id AND l.type = 'U'), 0)
      """;

  /** Finds sessions whose rows do not add up to their rounded exact total. */
  static final String NOT_TELESCOPED =
      """
      SELECT count(*) FROM (
        SELECT sum(l.units) AS units,
               round(sum(l.wmicros) / (1000::numeric * s.period_micros), 9) AS rounded
          FROM keeper.usage_ledger l JOIN keeper.registered_session s USING (session_id)
         GROUP BY s.session_id) t
       WHERE abs(units - rounded) > 0.000000001
      """;

  static final String ENDED_BUT_NOT_BILLED =
      "SELECT count(*) FROM keeper.registered_session WHERE ended_at IS NOT NULL AND NOT closed";

  static final String GAPS_IN_NUMBERS =
      """
      SELECT count(*) FROM (
        SELECT max(batch_no) - count(*) AS missing FROM keeper.usage_batch GROUP BY tenant_id) b
       WHERE missing <> 0
      """;

  private Ledgers() {}
}
