package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Meters all open sessions up to the end of a slot, a chunk of rows per transaction.
 *
 * <p>I1: in one transaction the ledger rows are written, the watermark of their sessions moves, and
 * the batch is frozen. I2: what is metered follows from the locked row alone, so two of these that
 * run at the same time, with or without a lease, meter each microsecond once. I3: rows that someone
 * else has locked are left for the next slot; an ended session stays open until it is metered to
 * its end.
 */
final class MeterUsage {
  static final int CHUNK = 500;
  private static final UUID FIRST = new UUID(0, 0);

  private static final String LOCK =
      """
      SELECT %s
        FROM keeper.registered_session
       WHERE NOT closed AND (tenant_id, session_id) > (?, ?) AND metered_through < ?
         AND NOT EXISTS (SELECT FROM keeper.metering_hold WHERE released_at IS NULL)
       ORDER BY tenant_id, session_id
       LIMIT %d
         FOR NO KEY UPDATE SKIP LOCKED
      """
          .formatted(MeteredSession.COLUMNS, CHUNK); // registered_session_open

  private static final String MOVE =
      """
      UPDATE keeper.registered_session s
         SET metered_through = v.through, metered_wmicros = s.metered_wmicros + v.wmicros,
             meter_seq = v.seq, closed = v.closed
        FROM unnest(?::uuid[], ?::timestamptz[], ?::numeric[], ?::int[], ?::boolean[])
             AS v (session_id, through, wmicros, seq, closed)
       WHERE s.session_id = v.session_id
      """; // registered_session_pkey (session_id)

  /** Runs a chunk: in a transaction that is fenced by a job's lease, or in a plain one. */
  @FunctionalInterface
  interface Transactions {
    <T> T run(Database.Work<T> work);
  }

  /** May refuse to go on, in the chunk's transaction. */
  @FunctionalInterface
  interface Guard {
    void check(Connection connection) throws SQLException;
  }

  private final Transactions transactions;
  private final Guard guard;

  MeterUsage(Transactions transactions, Guard guard) {
    this.transactions = transactions;
    this.guard = guard;
  }

  /**
   * Meters up to the end of the slot, which must not be in the future.
   *
   * @return how many ledger rows were written
   */
  int until(Instant slotEnd) {
    int written = 0;
    var place = new Place(FIRST, FIRST, 0, true);
    while (place.more() && !Thread.currentThread().isInterrupted()) {
      var from = place;
      place = transactions.run(connection -> chunk(connection, slotEnd, from));
      written += place.written();
    }
    return written;
  }

  /** Where a chunk ended. */
  private record Place(UUID tenant, UUID session, int written, boolean more) {}

  private Place chunk(Connection connection, Instant slotEnd, Place after) throws SQLException {
    var sessions = lock(connection, slotEnd, after);
    if (sessions.isEmpty()) {
      // Nothing is due, or metering is held; the difference is worth a statement only here.
      guard.check(connection);
      return new Place(after.tenant(), after.session(), 0, false);
    }
    var used = new ArrayList<Used>();
    for (var session : sessions) {
      session.usedUntil(slotEnd).ifPresent(row -> used.add(new Used(session, row)));
    }
    if (!used.isEmpty()) {
      WriteLedger.write(connection, used.stream().map(Used::row).toList());
      move(connection, used);
    }
    var last = sessions.get(sessions.size() - 1);
    return new Place(last.tenantId(), last.sessionId(), used.size(), sessions.size() == CHUNK);
  }

  private record Used(MeteredSession session, LedgerRow row) {}

  private static List<MeteredSession> lock(Connection connection, Instant slotEnd, Place after)
      throws SQLException {
    try (var statement = connection.prepareStatement(LOCK)) {
      statement.setObject(1, after.tenant());
      statement.setObject(2, after.session());
      statement.setObject(3, slotEnd.atOffset(ZoneOffset.UTC));
      try (var rows = statement.executeQuery()) {
        var sessions = new ArrayList<MeteredSession>(CHUNK);
        while (rows.next()) {
          sessions.add(MeteredSession.read(rows));
        }
        return sessions;
      }
    }
  }

  private static void move(Connection connection, List<Used> used) throws SQLException {
    try (var statement = connection.prepareStatement(MOVE)) {
      var columns = new WriteLedger.Columns<>(statement, used);
      columns.add("uuid", u -> u.row().sessionId());
      columns.add("timestamptz", u -> u.row().to());
      columns.add("numeric", u -> u.row().wmicros());
      columns.add("int", u -> u.row().seq());
      columns.add("boolean", u -> u.session().isClosedAt(u.row().to()));
      statement.executeUpdate();
    }
  }
}
