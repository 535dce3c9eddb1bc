package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.registry.SessionKind;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Bills a ledger row at another factor: appends its reversal and a new row. No row is edited.
 *
 * <p>The new row includes the rounding difference, so that the units of the session still add up to
 * its rounded exact total.
 */
record CorrectUsage(Database database) {
  private static final String LOCK =
      """
      SELECT %s FROM keeper.registered_session WHERE session_id = ? FOR NO KEY UPDATE
      """
          .formatted(MeteredSession.COLUMNS);

  private static final String COUNT =
      """
      UPDATE keeper.registered_session
         SET meter_seq = ?, adjusted_wmicros = adjusted_wmicros + ?
       WHERE session_id = ?
      """;

  private static final String NOTE =
      """
      INSERT INTO keeper.usage_correction (session_id, seq, tenant_id, wmicros, actor, reason)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (session_id, seq) DO NOTHING
      """;

  /** A correction to make: the actor, the record, the new factor and the reason. */
  record Order(UUID session, int seq, BigDecimal factor, Actor actor, String reason) {}

  Correction apply(Order order) {
    int factorMilli = new SessionKind(1, "correction", order.factor()).factorMilli();
    return database.inTransaction(
        connection -> {
          var session = lock(connection, order.session());
          var wrong = UsageLedger.find(connection, order.session(), order.seq());
          if (session.isEmpty() || wrong.isEmpty()) {
            return new Correction.NotFound();
          }
          if (wrong.get().type() == LedgerRow.Type.REVERSAL) {
            return new Correction.AlreadyCorrected();
          }
          var rows = rows(session.get(), wrong.get(), factorMilli);
          var change = rows.get(0).wmicros().add(rows.get(1).wmicros());
          if (!note(connection, order, wrong.get(), change)) {
            return new Correction.AlreadyCorrected();
          }
          WriteLedger.write(connection, rows);
          count(connection, rows.get(1), change);
          return new Correction.Applied(rows);
        });
  }

  private static List<LedgerRow> rows(MeteredSession session, LedgerRow wrong, int factorMilli) {
    var right =
        BigInteger.valueOf(ChronoUnit.MICROS.between(wrong.from(), wrong.to()))
            .multiply(BigInteger.valueOf(factorMilli));
    var after = session.total().subtract(wrong.wmicros()).add(right);
    var units = Units.between(session.total(), after, session.periodMicros()).add(wrong.units());
    return List.of(
        row(
            wrong,
            session.seq() + 1,
            LedgerRow.Type.REVERSAL,
            wrong.wmicros().negate(),
            wrong.units().negate()),
        row(wrong, session.seq() + 2, LedgerRow.Type.CORRECTION, right, units));
  }

  private static LedgerRow row(
      LedgerRow wrong, int seq, LedgerRow.Type type, BigInteger wmicros, BigDecimal units) {
    return new LedgerRow(
        wrong.sessionId(),
        seq,
        type,
        wrong.userObjectId(),
        wrong.tenantObjectId(),
        wrong.capacityId(),
        wrong.kind(),
        wrong.from(),
        wrong.to(),
        wmicros,
        units,
        Optional.of(wrong.seq()));
  }

  private static Optional<MeteredSession> lock(Connection connection, UUID id) throws SQLException {
    try (var statement = connection.prepareStatement(LOCK)) {
      statement.setObject(1, id);
      try (var rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(MeteredSession.read(rows)) : Optional.empty();
      }
    }
  }

  private static boolean note(
      Connection connection, Order order, LedgerRow wrong, BigInteger change) throws SQLException {
    try (var statement = connection.prepareStatement(NOTE)) {
      statement.setObject(1, order.session());
      statement.setInt(2, order.seq());
      statement.setObject(3, wrong.tenantObjectId());
      statement.setBigDecimal(4, new BigDecimal(change));
      statement.setString(5, order.actor().name());
      statement.setString(6, order.reason());
      if (statement.executeUpdate() == 0) {
        return false;
      }
    }
    var target = wrong.recordId() + " to factor " + order.factor().toPlainString();
    AuditLog.write(
        connection, new AuditLog.Entry(order.actor(), "usage.correct", target, order.reason(), ""));
    return true;
  }

  private static void count(Connection connection, LedgerRow last, BigInteger change)
      throws SQLException {
    try (var statement = connection.prepareStatement(COUNT)) {
      statement.setInt(1, last.seq());
      statement.setBigDecimal(2, new BigDecimal(change));
      statement.setObject(3, last.sessionId());
      statement.executeUpdate();
    }
  }
}
