package dev.sessionkeeper.postgres.operate;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.AlsoWrite;
import dev.sessionkeeper.postgres.jdbc.StorableText;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.read.AskReader;
import dev.sessionkeeper.postgres.read.AskReader.Answer;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Pauses, parks, resumes or unlocks a session for an operator. */
public final class ActOnSession {
  private static final String ACT = "SELECT keeper.act_on_session(?, ?, ?, ?, ?, ?)";

  private static final int IS_CACHED = -1;
  private static final int IS_LOCKED = -2;
  private static final long PATIENCE_NANOS = Duration.ofMinutes(1).toNanos();
  private static final long ASK_AGAIN_NANOS = Duration.ofMillis(20).toNanos();

  /**
   * An act of an operator.
   *
   * @param askedOf the epoch of the reader that has persisted the session for it; zero if no
   *     process reads it
   */
  private record Call(Act act, String reason, long askedOf) {}

  private final QueueContext queue;
  private final AskReader asks;

  public ActOnSession(QueueContext queue, AskReader asks) {
    this.queue = queue;
    this.asks = asks;
  }

  /** Acts on a session, and returns how many sessions changed. */
  public int act(SessionId session, Act act, String reason, AlsoWrite alsoWrite) {
    long began = queue.time().nanoTime();
    while (queue.time().nanoTime() - began < PATIENCE_NANOS) {
      var answer = asks.forRow(session, act == Act.PAUSE || act == Act.PARK);
      int affected =
          switch (answer) {
            case Answer.NoReader none -> tryAct(session, new Call(act, reason, 0), alsoWrite);
            case Answer.Persisted by ->
                tryAct(session, new Call(act, reason, by.readerEpoch()), alsoWrite);
            case Answer.Silent silent -> IS_LOCKED;
          };
      if (affected >= 0) {
        return affected;
      }
      if (affected == IS_LOCKED) {
        LockSupport.parkNanos(ASK_AGAIN_NANOS);
      }
    }
    throw new KeeperException.Unavailable(
        "Session " + session + ", which a transaction of its owner keeps locked,");
  }

  /**
   * Acts, and returns how many sessions changed. The result is negative if another reader has the
   * session now, or a transaction has locked it: then nothing changes, and no lock remains.
   */
  private int tryAct(SessionId session, Call call, AlsoWrite alsoWrite) {
    return Database.of(queue.connections().source())
        .inTransaction(
            connection -> {
              int affected = act(connection, session, call);
              if (affected != IS_CACHED && affected != IS_LOCKED) {
                alsoWrite.write(connection, affected);
              }
              return affected;
            });
  }

  private int act(Connection connection, SessionId session, Call call) throws SQLException {
    try (var statement = connection.prepareStatement(ACT)) {
      statement.setInt(1, queue.id());
      statement.setString(2, session.value());
      statement.setString(3, call.act.name());
      statement.setString(4, StorableText.storable(call.reason));
      statement.setLong(5, call.askedOf);
      statement.setLong(6, queue.node().shard());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }
}
