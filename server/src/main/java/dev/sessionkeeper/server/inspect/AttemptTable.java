package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads and deletes the failed attempts of sessions, which a trigger records. */
final class AttemptTable {
  private static final String NEWEST =
      """
      SELECT a.seq, a.attempt, a.counted, a.epoch, a.owner, a.at, a.error FROM keeper.attempt a
       WHERE a.queue = (SELECT k.id FROM keeper.queue k WHERE k.name = ?) AND a.session = ? AND a.at < ?
       ORDER BY a.id DESC LIMIT ?
      """; // attempt_session (queue, session, id)
  private static final String FORGET =
      """
      DELETE FROM keeper.attempt WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM keeper.attempt WHERE at < clock_timestamp() - make_interval(secs => ?) LIMIT ?))
      """; // attempt_at

  private final Database database;

  AttemptTable(Database database) {
    this.database = database;
  }

  /** Returns the newest failed attempts of a session. */
  List<Attempt> newest(QueueName queue, SessionId session, int limit) {
    return before(queue, session, OffsetDateTime.MAX, limit);
  }

  /** Returns the newest failed attempts of a session before a time. */
  List<Attempt> before(QueueName queue, SessionId session, OffsetDateTime before, int limit) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(NEWEST)) {
            statement.setString(1, queue.value());
            statement.setString(2, session.value());
            statement.setObject(3, before);
            statement.setInt(4, limit);
            try (var rows = statement.executeQuery()) {
              var attempts = new ArrayList<Attempt>();
              while (rows.next()) {
                attempts.add(attempt(rows));
              }
              return attempts;
            }
          }
        });
  }

  /** Deletes old attempts, a bounded number at a time. Returns how many were deleted. */
  int forget(Duration age, int most) {
    return database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(FORGET)) {
            statement.setDouble(1, (double) age.toSeconds());
            statement.setInt(2, most);
            return statement.executeUpdate();
          }
        });
  }

  private static Attempt attempt(ResultSet row) throws SQLException {
    long epoch = row.getLong(4);
    var known = row.wasNull() ? Optional.<Long>empty() : Optional.of(epoch);
    return new Attempt(
        row.getLong(1),
        row.getInt(2),
        row.getBoolean(3),
        known,
        Optional.ofNullable(row.getString(5)),
        row.getObject(6, OffsetDateTime.class).toInstant(),
        row.getString(7));
  }
}
