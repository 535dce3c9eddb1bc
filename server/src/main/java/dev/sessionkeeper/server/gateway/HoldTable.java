package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.feature.HoldLimits.Hold;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Stores the held sessions of bots, on the caller's connection. Only the database's clock counts.
 */
final class HoldTable {
  // Asynchronous commit: a place that a database crash loses is only given away too early.
  private static final String HASTE = "SET LOCAL synchronous_commit = off";
  private static final String LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(?, 9))";
  private static final String TAKE =
      """
      INSERT INTO keeper.bot_hold (queue, session, epoch, until)
      SELECT ?, ?, ?, clock_timestamp() + make_interval(secs => ?)
       WHERE (SELECT count(*) FROM keeper.bot_hold h
               WHERE h.queue = ? AND h.session <> ? AND h.until > clock_timestamp()) < ?
      ON CONFLICT (queue, session) DO UPDATE
         SET epoch = EXCLUDED.epoch, until = EXCLUDED.until, taken_at = clock_timestamp(),
             active_at = clock_timestamp(), messages = 0, in_hand = 0, entity_type = 'none'
      """; // bot_hold_pkey
  private static final String RENEW =
      """
      UPDATE keeper.bot_hold SET until = clock_timestamp() + make_interval(secs => ?)
       WHERE queue = ? AND session = ? AND epoch = ?
      """;
  private static final String WORK =
      """
      UPDATE keeper.bot_hold
         SET active_at = clock_timestamp(), messages = messages + ?,
             in_hand = CASE WHEN ? THEN 0 ELSE GREATEST(0, in_hand + ?) END,
             entity_type = COALESCE(?, entity_type)
       WHERE queue = ? AND session = ? AND epoch = ?
      """;
  private static final String LOOK =
      """
      SELECT extract(epoch FROM clock_timestamp() - taken_at)::float8,
             extract(epoch FROM clock_timestamp() - active_at)::float8, in_hand
        FROM keeper.bot_hold WHERE queue = ? AND session = ? AND epoch = ?
      """;
  private static final String ENDED =
      " RETURNING queue, extract(epoch FROM LEAST(until, clock_timestamp()) - taken_at)::float8,"
          + " messages, entity_type";
  private static final String END =
      "DELETE FROM keeper.bot_hold WHERE queue = ? AND session = ? AND epoch = ?" + ENDED;
  private static final String REAP =
      "DELETE FROM keeper.bot_hold WHERE until < clock_timestamp()" + ENDED;
  private static final String COUNT =
      "SELECT count(*) FROM keeper.bot_hold WHERE queue = ? AND until > clock_timestamp()";

  private static final String SINCE =
      "SELECT session, taken_at FROM keeper.bot_hold WHERE queue = ? AND until > clock_timestamp()";

  private HoldTable() {}

  /**
   * The state of a hold that continues: its duration, the time without an open delivery, and its
   * open deliveries.
   */
  record Look(Duration held, Duration idle, int inHand) {}

  /** A hold that ended. */
  record Ended(String queue, Duration held, int messages, String entityType) {}

  /** Takes a place if fewer than {@code most} other sessions of the queue are held. */
  static boolean take(Connection connection, Hold hold, Duration lock, int most)
      throws SQLException {
    try (var haste = connection.createStatement();
        var alone = connection.prepareStatement(LOCK)) {
      haste.execute(HASTE);
      alone.setString(1, hold.queue().value());
      alone.execute();
    }
    // A separate statement, so that it sees rows committed before this transaction got the lock.
    try (var statement = connection.prepareStatement(TAKE)) {
      name(statement, 1, hold);
      statement.setDouble(4, seconds(lock));
      statement.setString(5, hold.queue().value());
      statement.setString(6, hold.session().value());
      statement.setInt(7, most);
      return statement.executeUpdate() == 1;
    }
  }

  static void renew(Connection connection, Hold hold, Duration lock) throws SQLException {
    try (var statement = connection.prepareStatement(RENEW)) {
      statement.setDouble(1, seconds(lock));
      name(statement, 2, hold);
      statement.executeUpdate();
    }
  }

  /**
   * Messages were delivered or settled.
   *
   * @param done how many were settled
   * @param isVoid whether no delivery is open any more
   * @param more how many more deliveries are open
   */
  record Work(int done, boolean isVoid, int more, Optional<String> entityType) {}

  static void work(Connection connection, Hold hold, Work work) throws SQLException {
    try (var statement = connection.prepareStatement(WORK)) {
      statement.setInt(1, work.done());
      statement.setBoolean(2, work.isVoid());
      statement.setInt(3, work.more());
      statement.setString(4, work.entityType().orElse(null));
      name(statement, 5, hold);
      statement.executeUpdate();
    }
  }

  static Optional<Look> look(Connection connection, Hold hold) throws SQLException {
    try (var statement = connection.prepareStatement(LOOK)) {
      name(statement, 1, hold);
      try (var rows = statement.executeQuery()) {
        return rows.next()
            ? Optional.of(
                new Look(duration(rows.getDouble(1)), duration(rows.getDouble(2)), rows.getInt(3)))
            : Optional.empty();
      }
    }
  }

  static Optional<Ended> end(Connection connection, Hold hold) throws SQLException {
    try (var statement = connection.prepareStatement(END)) {
      name(statement, 1, hold);
      return ended(statement).stream().findFirst();
    }
  }

  /** Deletes expired holds; each is returned to one caller only. */
  static List<Ended> reap(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(REAP)) {
      return ended(statement);
    }
  }

  static int count(Connection connection, QueueName queue) throws SQLException {
    try (var statement = connection.prepareStatement(COUNT)) {
      statement.setString(1, queue.value());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }

  static Map<SessionId, Instant> heldSince(Connection connection, QueueName queue)
      throws SQLException {
    try (var statement = connection.prepareStatement(SINCE)) {
      statement.setString(1, queue.value());
      try (var rows = statement.executeQuery()) {
        var since = new HashMap<SessionId, Instant>();
        while (rows.next()) {
          since.put(
              SessionId.of(rows.getString(1)), rows.getObject(2, OffsetDateTime.class).toInstant());
        }
        return since;
      }
    }
  }

  private static List<Ended> ended(PreparedStatement statement) throws SQLException {
    try (var rows = statement.executeQuery()) {
      var all = new ArrayList<Ended>();
      while (rows.next()) {
        all.add(ended(rows));
      }
      return all;
    }
  }

  private static Ended ended(ResultSet row) throws SQLException {
    return new Ended(row.getString(1), duration(row.getDouble(2)), row.getInt(3), row.getString(4));
  }

  private static void name(PreparedStatement statement, int from, Hold hold) throws SQLException {
    statement.setString(from, hold.queue().value());
    statement.setString(from + 1, hold.session().value());
    statement.setLong(from + 2, hold.epoch());
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / 1e9;
  }

  private static Duration duration(double seconds) {
    return Duration.ofNanos((long) (Math.max(0, seconds) * 1e9));
  }
}
