package dev.sessionkeeper.server.gateway;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;

/** Stores replays and their progress. */
final class ReplayTable {
  private static final String LOCK_KEY = "SELECT pg_advisory_xact_lock(hashtextextended(?, 7))";
  private static final String COLUMNS =
      "SELECT id, finished_at IS NOT NULL, next_seq, last_seq, events, messages"
          + " FROM keeper.github_replay";
  private static final String RECENT =
      COLUMNS
          + " WHERE request_key = ? AND (id = ?"
          + " OR requested_at > clock_timestamp() - interval '10 minutes')"
          + " ORDER BY requested_at DESC LIMIT 1"; // github_replay_key
  private static final String NEWEST_EVENT =
      "SELECT COALESCE(max(seq), 0) FROM keeper.github_event"; // pkey
  private static final String FOR_UPDATE = COLUMNS + " WHERE id = ? FOR UPDATE"; // pkey
  private static final String INSERT =
      """
      INSERT INTO keeper.github_replay (id, request_key, actor, reason, selection, last_seq)
      SELECT ?, ?, ?, ?, ?, COALESCE(max(seq), 0) FROM keeper.github_event
      """;
  private static final String ADVANCE =
      """
      UPDATE keeper.github_replay
         SET next_seq = ?, events = events + ?, messages = messages + ?,
             finished_at = CASE WHEN ? THEN clock_timestamp() END
       WHERE id = ?
      """;

  private ReplayTable() {}

  /** A replay. Unless finished, the events from nextSeq to lastSeq are still to be examined. */
  record Replay(UUID id, boolean finished, long nextSeq, long lastSeq, int events, int messages) {}

  /** The values of a new replay. */
  record Added(UUID id, String key, String actor, String reason, String selection) {}

  /** Makes a concurrent request for the same replay wait until this transaction has ended. */
  static void lock(Connection connection, String key) throws SQLException {
    try (var statement = connection.prepareStatement(LOCK_KEY)) {
      statement.setString(1, key);
      statement.execute();
    }
  }

  /**
   * Returns the replay of the same request: by its id at any time, otherwise if it was requested
   * just now.
   */
  static Optional<Replay> recent(Connection connection, String key, UUID id) throws SQLException {
    try (var statement = connection.prepareStatement(RECENT)) {
      statement.setString(1, key);
      statement.setObject(2, id);
      return one(statement.executeQuery());
    }
  }

  static Replay insert(Connection connection, Added added) throws SQLException {
    try (var statement = connection.prepareStatement(INSERT)) {
      statement.setObject(1, added.id());
      statement.setString(2, added.key());
      statement.setString(3, added.actor());
      statement.setString(4, added.reason());
      statement.setString(5, added.selection());
      statement.executeUpdate();
    }
    return forUpdate(connection, added.id());
  }

  /** Returns the sequence number of the newest event; 0 if there is none. */
  static long newestEvent(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(NEWEST_EVENT);
        var rows = statement.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }

  /** Returns the replay, locked for this transaction. */
  static Replay forUpdate(Connection connection, UUID id) throws SQLException {
    try (var statement = connection.prepareStatement(FOR_UPDATE)) {
      statement.setObject(1, id);
      return one(statement.executeQuery()).orElseThrow();
    }
  }

  static void advance(
      Connection connection, UUID id, long nextSeq, int events, int messages, boolean finished)
      throws SQLException {
    try (var statement = connection.prepareStatement(ADVANCE)) {
      statement.setLong(1, nextSeq);
      statement.setInt(2, events);
      statement.setInt(3, messages);
      statement.setBoolean(4, finished);
      statement.setObject(5, id);
      statement.executeUpdate();
    }
  }

  private static Optional<Replay> one(ResultSet rows) throws SQLException {
    try (rows) {
      return rows.next()
          ? Optional.of(
              new Replay(
                  rows.getObject(1, UUID.class),
                  rows.getBoolean(2),
                  rows.getLong(3),
                  rows.getLong(4),
                  rows.getInt(5),
                  rows.getInt(6)))
          : Optional.empty();
    }
  }
}
