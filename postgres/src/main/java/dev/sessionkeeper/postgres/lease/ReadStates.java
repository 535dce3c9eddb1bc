package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.spi.HeldSession;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the states of many held sessions in one statement.
 *
 * <p>The statement does not check the leases: an owner that has lost one may get the state of the
 * next owner, and can settle nothing with it.
 */
public final class ReadStates {
  private static final String READ =
      """
      SELECT session, bytes, version FROM keeper.session_state WHERE queue = ? AND session = ANY (?)
      """; // session_state_pkey (queue, session)

  private ReadStates() {}

  public static Map<SessionId, SessionState> of(QueueContext queue, List<HeldSession> sessions) {
    var states = new HashMap<SessionId, SessionState>();
    sessions.forEach(session -> states.put(session.id(), SessionState.none()));
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(READ)) {
                statement.setInt(1, queue.id());
                var ids = states.keySet().stream().map(SessionId::value).toArray(String[]::new);
                statement.setArray(2, SqlArray.of(connection, "text", ids));
                try (var rows = statement.executeQuery()) {
                  while (rows.next()) {
                    states.put(
                        SessionId.of(rows.getString(1)),
                        new SessionState(rows.getBytes(2), rows.getLong(3)));
                  }
                }
                return states;
              }
            });
  }
}
