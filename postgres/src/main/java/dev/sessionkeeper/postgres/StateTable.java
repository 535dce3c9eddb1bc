package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;

/** The memory of sessions, read and written by whoever holds the lease. */
final class StateTable {
  private static final String READ =
      """
      SELECT s.bytes, s.version
        FROM keeper.lane l LEFT JOIN keeper.session_state s ON s.queue = l.queue AND s.session = l.session
       WHERE l.queue = ? AND l.session = ? AND l.epoch = ? AND l.status + 0 = 1 AND l.until > clock_timestamp()
      """; // lane_pkey, session_state_pkey (queue, session)

  private final OrderedQueue queue;

  StateTable(OrderedQueue queue) {
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
                  long version = rows.getLong(2);
                  return version == 0
                      ? SessionState.none()
                      : new SessionState(rows.getBytes(1), version);
                }
              }
            });
  }

  SessionState write(SessionId session, long epoch, SessionState.Write write) {
    var call = SettleCall.write(session, epoch, write);
    long version =
        queue
            .connections()
            .call(connection -> call.run(connection, queue.id(), queue.node().shard()));
    return new SessionState(write.bytes().clone(), version);
  }
}
