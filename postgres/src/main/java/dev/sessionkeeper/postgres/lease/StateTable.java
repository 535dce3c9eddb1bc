package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.settle.SettleCall;
import dev.sessionkeeper.postgres.settle.SettleEach;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/** The states of sessions. Only the owner of a session reads and writes its state. */
public final class StateTable {
  private static final String READ =
      """
      SELECT s.bytes, s.version
        FROM keeper.lane l LEFT JOIN keeper.session_state s ON s.queue = l.queue AND s.session = l.session
       WHERE l.queue = ? AND l.session = ? AND l.epoch = ? AND l.status + 0 = 1 AND l.until > clock_timestamp()
      """; // lane_pkey, session_state_pkey (queue, session)

  private static final String READ_CACHED =
      """
      SELECT s.bytes, s.version
        FROM keeper.reader r LEFT JOIN keeper.session_state s ON s.queue = r.queue AND s.session = ?
       WHERE r.queue = ? AND r.epoch = ? AND r.until > clock_timestamp()
         AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = r.queue AND x.epoch = r.epoch)
         AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = r.queue AND l.session = ?)
      """; // reader_pkey, reading_pkey (queue), session_state_pkey, lane_pkey (queue, session)

  private final QueueContext queue;

  public StateTable(QueueContext queue) {
    this.queue = queue;
  }

  SessionState read(SessionId session, long epoch) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(READ)) {
                statement.setInt(1, queue.id());
                statement.setString(2, session.value());
                statement.setLong(3, epoch);
                try (var rows = statement.executeQuery()) {
                  if (!rows.next()) {
                    throw new KeeperException.LockLost("session " + session, epoch);
                  }
                  return state(rows);
                }
              }
            });
  }

  /**
   * Returns the state of a cached session; empty if the session was persisted meanwhile, or is
   * lost.
   */
  Optional<SessionState> readCached(SessionId session, long readerEpoch) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(READ_CACHED)) {
                statement.setString(1, session.value());
                statement.setInt(2, queue.id());
                statement.setLong(3, readerEpoch);
                statement.setString(4, session.value());
                try (var rows = statement.executeQuery()) {
                  return rows.next() ? Optional.of(state(rows)) : Optional.empty();
                }
              }
            });
  }

  private static SessionState state(ResultSet row) throws SQLException {
    long version = row.getLong(2);
    return version == 0 ? SessionState.none() : new SessionState(row.getBytes(1), version);
  }

  SessionState write(SessionId session, long epoch, SessionState.Write write) {
    var call = SettleCall.write(session, epoch, write);
    long version =
        queue
            .connections()
            .call(
                connection ->
                    SettleEach.runAlone(connection, queue.id(), queue.node().shard(), call));
    return new SessionState(write.bytes().clone(), version);
  }
}
