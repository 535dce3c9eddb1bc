package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.jdbc.Micros;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.jdbc.StorableText;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs calls of different sessions, in the order of the sessions, as one statement and one commit.
 * Each call has its own outcome.
 */
public final class SettleEach {
  private static final String SETTLE =
      "SELECT outcome, detail, at_seq FROM keeper.settle_each(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final short RETRIED = 1;
  private static final short EXPIRED = 4;
  private static final short POSTPONED = 5;

  private final List<SettleCall> calls;
  private final long[] sequences;
  private final short[] acts;
  private final long[] delays;
  private final boolean[] limits;
  private final String[] reasons;
  private final String[] errors;

  private SettleEach(List<SettleCall> calls) {
    this.calls = calls;
    int count = calls.stream().mapToInt(call -> call.settlements().size()).sum();
    sequences = new long[count];
    acts = new short[count];
    delays = new long[count];
    limits = new boolean[count];
    reasons = new String[count];
    errors = new String[count];
    int i = 0;
    for (var call : calls) {
      for (var settled : call.settlements()) {
        put(i, settled);
        if (call.areExpired()) {
          acts[i] = EXPIRED;
        }
        i++;
      }
    }
  }

  private void put(int i, Settled settled) {
    sequences[i] = settled.sequence();
    reasons[i] = "";
    errors[i] = "";
    switch (settled.settlement()) {
      case Settlement.Complete complete -> acts[i] = 0;
      case Settlement.Retry retry -> {
        acts[i] = retry.counted() ? RETRIED : POSTPONED;
        delays[i] = Micros.of(retry.delay());
        limits[i] = retry.limited();
        reasons[i] = StorableText.storable(retry.reason());
      }
      case Settlement.DeadLetter letter -> {
        acts[i] = 2;
        reasons[i] = StorableText.storable(letter.reason());
        errors[i] = StorableText.storable(letter.error());
      }
      case Settlement.Park park -> {
        acts[i] = 3;
        reasons[i] = StorableText.storable(park.reason());
      }
    }
  }

  /**
   * Runs one call in the transaction of the connection.
   *
   * @return the new version of the state; zero if none was written
   */
  public static long runAlone(Connection connection, int queue, long shard, SettleCall call)
      throws SQLException {
    return call.result(run(connection, queue, shard, List.of(call)).get(0));
  }

  /** Runs calls in the transaction of the connection. Returns their outcomes in the same order. */
  static List<SettleOutcome> run(
      Connection connection, int queue, long shard, List<SettleCall> calls) throws SQLException {
    try (var statement = connection.prepareStatement(SETTLE)) {
      statement.setInt(1, queue);
      new SettleEach(calls).bind(connection, statement);
      statement.setLong(14, shard);
      try (var rows = statement.executeQuery()) {
        var outcomes = new ArrayList<SettleOutcome>(calls.size());
        while (rows.next()) {
          outcomes.add(
              new SettleOutcome(rows.getString(1), rows.getObject(2, Long.class), rows.getLong(3)));
        }
        return outcomes;
      }
    }
  }

  /** Sets parameters 2 to 13. */
  private void bind(Connection connection, PreparedStatement statement) throws SQLException {
    int count = calls.size();
    var sessions = new String[count];
    var epochs = new long[count];
    var shared = new boolean[count];
    var sizes = new int[count];
    var states = new byte[count][];
    var versions = new long[count];
    for (int i = 0; i < count; i++) {
      var call = calls.get(i);
      sessions[i] = call.session().value();
      epochs[i] = call.epoch();
      shared[i] = call.shared();
      sizes[i] = call.settlements().size();
      states[i] = call.state().map(SessionState.Write::bytes).orElse(null);
      versions[i] = call.state().map(SessionState.Write::expectedVersion).orElse(0L);
    }
    statement.setArray(2, SqlArray.of(connection, "text", sessions));
    statement.setArray(3, SqlArray.of(connection, "int8", epochs));
    statement.setArray(4, SqlArray.of(connection, "bool", shared));
    statement.setArray(5, SqlArray.of(connection, "int4", sizes));
    statement.setArray(6, SqlArray.of(connection, "int8", sequences));
    statement.setArray(7, SqlArray.of(connection, "int2", acts));
    statement.setArray(8, SqlArray.of(connection, "int8", delays));
    statement.setArray(9, SqlArray.of(connection, "bool", limits));
    statement.setArray(10, SqlArray.of(connection, "text", reasons));
    statement.setArray(11, SqlArray.of(connection, "text", errors));
    statement.setArray(12, SqlArray.of(connection, "bytea", states));
    statement.setArray(13, SqlArray.of(connection, "int8", versions));
  }
}
