package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Settlements of one session that take effect together, with a state if there is one; all or
 * nothing.
 *
 * @param shared whether what is in hand is written in the lane
 */
record SettleCall(
    SessionId session,
    long epoch,
    boolean shared,
    List<Settled> settlements,
    boolean areExpired,
    Optional<SessionState.Write> state) {
  private static final String SETTLE =
      "SELECT outcome, detail, at_seq FROM keeper.settle_session(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final short EXPIRED = 4;

  /** Messages that have become too old. */
  static SettleCall expired(SessionId session, long epoch, List<Settled> settlements) {
    return new SettleCall(session, epoch, false, settlements, true, Optional.empty());
  }

  /** Writes a state and settles nothing. */
  static SettleCall write(SessionId session, long epoch, SessionState.Write state) {
    return new SettleCall(session, epoch, true, List.of(), false, Optional.of(state));
  }

  /**
   * Runs it in the transaction of the connection.
   *
   * @return the new version of the state; zero where none was written
   */
  long run(Connection connection, int queue, long shard) throws SQLException {
    int count = settlements.size();
    var sequences = new long[count];
    var acts = new short[count];
    var delays = new long[count];
    var limits = new boolean[count];
    var reasons = new String[count];
    var errors = new String[count];
    for (int i = 0; i < count; i++) {
      sequences[i] = settlements.get(i).sequence();
      reasons[i] = "";
      errors[i] = "";
      switch (settlements.get(i).settlement()) {
        case Settlement.Complete complete -> acts[i] = 0;
        case Settlement.Retry retry -> {
          acts[i] = 1;
          delays[i] = QueueTable.micros(retry.delay());
          limits[i] = retry.limited();
          reasons[i] = Texts.storable(retry.reason());
        }
        case Settlement.DeadLetter letter -> {
          acts[i] = 2;
          reasons[i] = Texts.storable(letter.reason());
          errors[i] = Texts.storable(letter.error());
        }
        case Settlement.Park park -> {
          acts[i] = 3;
          reasons[i] = Texts.storable(park.reason());
        }
      }
      if (areExpired) {
        acts[i] = EXPIRED;
      }
    }
    try (var statement = connection.prepareStatement(SETTLE)) {
      statement.setInt(1, queue);
      statement.setString(2, session.value());
      statement.setLong(3, epoch);
      statement.setBoolean(4, shared);
      statement.setArray(5, SqlArray.of(connection, "int8", sequences));
      statement.setArray(6, SqlArray.of(connection, "int2", acts));
      statement.setArray(7, SqlArray.of(connection, "int8", delays));
      statement.setArray(8, SqlArray.of(connection, "bool", limits));
      statement.setArray(9, SqlArray.of(connection, "text", reasons));
      statement.setArray(10, SqlArray.of(connection, "text", errors));
      statement.setBytes(11, state.map(SessionState.Write::bytes).orElse(null));
      statement.setLong(12, state.map(SessionState.Write::expectedVersion).orElse(0L));
      statement.setLong(13, shard);
      try (var rows = statement.executeQuery()) {
        rows.next();
        long detail = rows.getLong(2);
        return outcome(rows.getString(1), detail, rows.wasNull(), rows.getLong(3));
      }
    }
  }

  private long outcome(String outcome, long detail, boolean noDetail, long sequence) {
    return switch (outcome) {
      case "ok" -> detail;
      case "lost" -> throw new KeeperException.LockLost("session " + session, epoch);
      case "order" ->
          throw new KeeperException.OutOfOrder(
              session, sequence, noDetail ? "it is not in hand" : "message " + detail + " is open");
      case "stale" ->
          throw new KeeperException.StaleState(
              session, state.map(SessionState.Write::expectedVersion).orElse(0L), detail);
      default -> throw new KeeperException.Rejected("Unknown outcome " + outcome);
    };
  }
}
