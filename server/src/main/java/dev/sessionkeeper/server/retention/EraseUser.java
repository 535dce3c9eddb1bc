package dev.sessionkeeper.server.retention;

import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

/**
 * Replaces a user's id by a random one in every table, in one transaction. Active sessions end
 * first. Amounts stay, so that billing and its proof still add up.
 *
 * <p>Usage batches keep the id in the bytes that were sent, until {@code usage.retention} ends,
 * because other bytes would be another batch to the receiver. The audit log never contains the id.
 */
final class EraseUser {
  private static final String END =
      """
      SELECT count(keeper.end_session(s, clock_timestamp(), 'ended'))
        FROM (SELECT * FROM keeper.registered_session
               WHERE user_id = ? AND ended_at IS NULL ORDER BY session_id FOR UPDATE) s
      """; // registered_session_user
  private static final String SESSIONS =
      "UPDATE keeper.registered_session SET user_id = ? WHERE user_id = ?";
  private static final String LEDGER =
      """
      UPDATE keeper.usage_ledger l SET user_id = ?
        FROM (SELECT session_id FROM keeper.registered_session WHERE user_id = ?) s
       WHERE l.session_id = s.session_id
      """; // registered_session_user, usage_ledger_pkey
  private static final String EVENTS =
      """
      UPDATE keeper.stream_event SET data = replace(data, ?, ?) WHERE data LIKE '%' || ? || '%'
      """;
  private static final String OUTBOX =
      """
      UPDATE keeper.stream_outbox SET data = replace(data, ?, ?) WHERE data LIKE '%' || ? || '%'
      """;
  private static final String BATCHES =
      """
      SELECT count(DISTINCT l.batch_id) FROM keeper.usage_ledger l
        JOIN keeper.registered_session s USING (session_id)
        JOIN keeper.usage_batch b USING (batch_id) WHERE s.user_id = ?
      """;

  private final Database database;

  EraseUser(Database database) {
    this.database = database;
  }

  /**
   * The result of an erasure.
   *
   * @param pseudonym the random id that replaces the user's from now on
   * @param sessionsEnded sessions that were active
   * @param batchesLeft usage batches that were sent with the id; they are deleted when
   *     usage.retention ends
   */
  record Erased(
      UUID pseudonym,
      long sessionsEnded,
      int sessions,
      int ledgerRows,
      int events,
      long batchesLeft) {}

  Erased erase(UUID user, String reason, Actor actor) {
    var pseudonym = UUID.randomUUID();
    return database.inTransaction(
        connection -> {
          long ended = count(connection, END, user);
          long batches = count(connection, BATCHES, user);
          // Sessions come last, because the other statements find the user through them.
          int ledger = replace(connection, LEDGER, pseudonym, user);
          int sessions = replace(connection, SESSIONS, pseudonym, user);
          int events =
              replaceText(connection, OUTBOX, user, pseudonym)
                  + replaceText(connection, EVENTS, user, pseudonym);
          var erased = new Erased(pseudonym, ended, sessions, ledger, events, batches);
          AuditLog.write(
              connection,
              new AuditLog.Entry(
                  actor,
                  "user.erase",
                  pseudonym.toString(),
                  reason,
                  sessions + " sessions, " + ledger + " ledger rows, " + events + " events"));
          return erased;
        });
  }

  private static long count(Connection connection, String sql, UUID user) throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      statement.setObject(1, user);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    }
  }

  private static int replace(Connection connection, String sql, UUID by, UUID user)
      throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      statement.setObject(1, by);
      statement.setObject(2, user);
      return statement.executeUpdate();
    }
  }

  private static int replaceText(Connection connection, String sql, UUID user, UUID by)
      throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      statement.setString(1, user.toString());
      statement.setString(2, by.toString());
      statement.setString(3, user.toString());
      return statement.executeUpdate();
    }
  }
}
