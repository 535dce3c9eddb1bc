package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalInt;

/** Does to a session what a person wants. */
final class ActOnSession {
  private static final String ACT = "SELECT keeper.act_on_session(?, ?, ?, ?, ?)";

  private static final int IS_CARRIED = -1;

  private ActOnSession() {}

  static int act(
      OrderedQueue queue, SessionId session, Act act, String reason, Alongside alongside) {
    while (true) {
      queue.upToDate().requireLanes();
      var affected = tryAct(queue, session, act, reason, alongside);
      if (affected.isPresent()) {
        return affected.getAsInt();
      }
    }
  }

  /** Empty when somebody has begun to carry sessions this moment. */
  private static OptionalInt tryAct(
      OrderedQueue queue, SessionId session, Act act, String reason, Alongside alongside) {
    return Database.of(queue.connections().source())
        .inTransaction(
            connection -> {
              int affected = act(connection, queue, session, act, reason);
              if (affected == IS_CARRIED) {
                return OptionalInt.empty();
              }
              alongside.write(connection, affected);
              return OptionalInt.of(affected);
            });
  }

  private static int act(
      Connection connection, OrderedQueue queue, SessionId session, Act act, String reason)
      throws SQLException {
    try (var statement = connection.prepareStatement(ACT)) {
      statement.setInt(1, queue.id());
      statement.setString(2, session.value());
      statement.setString(3, act.name());
      statement.setString(4, Texts.storable(reason));
      statement.setLong(5, queue.node().shard());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }
}
