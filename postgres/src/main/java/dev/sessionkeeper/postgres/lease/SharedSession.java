package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.postgres.batch.UnpackBatches;
import dev.sessionkeeper.postgres.jdbc.BinaryResults;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.RowKind;
import dev.sessionkeeper.postgres.settle.SettleCall;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.HeldSession;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A session whose lease several processes use. The open deliveries are in the database, and every
 * call is a statement.
 */
public final class SharedSession implements HeldSession {
  private static final String FIND =
      """
      SELECT owner, until FROM keeper.lane
       WHERE queue = ? AND session = ? AND epoch = ? AND status + 0 = 1 AND until > clock_timestamp()
      """; // lane_pkey (queue, session)
  private static final String RECEIVE =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.receive_shared(?, ?, ?, ?, ?, ?)";
  private static final String PUT_OPEN =
      """
      UPDATE keeper.lane SET handed = ?, reached = ?
       WHERE queue = ? AND session = ? AND epoch = ? AND status + 0 = 1 AND until > clock_timestamp()
      """; // lane_pkey (queue, session)
  private static final long LOOK_NANOS = Duration.ofMillis(200).toNanos();

  private final HoldParts parts;
  private final QueueContext queue;
  private final SessionId id;
  private final long epoch;
  private volatile @Nullable Lease lease;

  private SharedSession(HoldParts parts, SessionId id, long epoch, @Nullable Lease lease) {
    this.parts = parts;
    this.queue = parts.queue();
    this.id = id;
    this.epoch = epoch;
    this.lease = lease;
  }

  static SharedSession of(HoldParts parts, Lease lease) {
    return new SharedSession(parts, SessionId.of(lease.resource()), lease.epoch(), lease);
  }

  /**
   * Returns a handle for a lease that the caller names. Each call checks whether the lease is held.
   */
  public static SharedSession unseen(HoldParts parts, SessionId session, long epoch) {
    return new SharedSession(parts, session, epoch, null);
  }

  /** Returns a handle on the lease with this epoch; empty if the lease is lost. */
  public static Optional<SharedSession> find(HoldParts parts, SessionId session, long epoch) {
    var queue = parts.queue();
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(FIND)) {
                statement.setInt(1, queue.id());
                statement.setString(2, session.value());
                statement.setLong(3, epoch);
                try (var rows = statement.executeQuery()) {
                  return rows.next()
                      ? Optional.of(
                          of(
                              parts,
                              new Lease(
                                  session.value(),
                                  Owner.of(rows.getString(1)),
                                  epoch,
                                  Instants.of(rows, 2))))
                      : Optional.empty();
                }
              }
            });
  }

  /**
   * Writes the open deliveries of the process that did not share its lease before. Returns false if
   * the lease is lost.
   */
  boolean writeOpen(List<Long> sequences) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(PUT_OPEN)) {
                var all = sequences.stream().mapToLong(Long::longValue).toArray();
                statement.setArray(1, SqlArray.of(connection, "int8", all));
                statement.setLong(2, sequences.stream().mapToLong(Long::longValue).max().orElse(0));
                statement.setInt(3, queue.id());
                statement.setString(4, id.value());
                statement.setLong(5, epoch);
                return statement.executeUpdate() == 1;
              }
            });
  }

  @Override
  public SessionId id() {
    return id;
  }

  @Override
  public Lease lease() {
    var known = lease;
    if (known == null) {
      known = find(parts, id, epoch).orElseThrow(this::lockLost).lease();
      lease = known;
    }
    return known;
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    return receive(BatchLimit.of(max), wait);
  }

  @Override
  public List<Delivery> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    return receive(limit, wait, true);
  }

  /** Receives from the first open delivery on, or after the last one. */
  public List<Delivery> receive(BatchLimit limit, Duration wait, boolean again)
      throws InterruptedException {
    long deadline = queue.time().nanoTime() + Math.min(wait.toNanos(), Long.MAX_VALUE / 4);
    boolean hasLooked = false;
    while (true) {
      long seen = parts.polling().changes().count();
      var batch = queue.connections().call(connection -> receive(connection, limit, again));
      if (batch.isEmpty() && !hasLooked) {
        // A poll that begins now gives the session every message whose send has returned.
        hasLooked = true;
        Futures.join(parts.polling().requests().join());
        if (parts.polling().last().areBatchesLeft()) {
          new UnpackBatches(queue).of(id);
        }
        continue;
      }
      long left = deadline - queue.time().nanoTime();
      if (!batch.isEmpty() || left <= 0) {
        return batch;
      }
      parts.polling().receivers().begin();
      try {
        parts.polling().changes().await(seen, Math.min(left, LOOK_NANOS));
      } finally {
        parts.polling().receivers().end();
      }
    }
  }

  private List<Delivery> receive(Connection connection, BatchLimit limit, boolean again)
      throws SQLException {
    try (var statement = BinaryResults.prepare(connection, RECEIVE)) {
      statement.setInt(1, queue.id());
      statement.setString(2, id.value());
      statement.setLong(3, epoch);
      statement.setInt(4, limit.messages());
      statement.setLong(5, limit.bytes());
      statement.setBoolean(6, again);
      try (var rows = statement.executeQuery()) {
        var batch = new ArrayList<Delivery>();
        while (rows.next()) {
          if (RowKind.of(rows) == RowKind.LOST) {
            throw lockLost();
          }
          batch.add(HandedRow.delivery(rows, Optional.of(id)));
        }
        return batch;
      }
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return settle(settlements, Optional.empty());
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    return settle(settlements, Optional.of(state));
  }

  public CompletionStage<Void> settle(
      List<Settled> settlements, Optional<SessionState.Write> state) {
    try {
      for (int i = 1; i < settlements.size(); i++) {
        OpenDeliveries.requireNotVoid(id, settlements, i);
      }
      var call = new SettleCall(id, epoch, true, settlements, false, state);
      return parts.calls().settles().settle(call);
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public Lease renew() {
    var until = Futures.join(parts.calls().renewals().renew(id, epoch));
    var renewed = lease().until(until.orElseThrow(this::lockLost));
    lease = renewed;
    return renewed;
  }

  @Override
  public SessionState state() {
    return parts.calls().states().read(id, epoch);
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    return parts.calls().states().write(id, epoch, write);
  }

  @Override
  public void close() {
    try {
      Futures.join(parts.calls().settles().free(id, epoch));
      parts.forget().forget(id, epoch);
    } catch (KeeperException.LockLost e) {
      // Another owner has the session, which is the purpose of closing.
    }
  }

  private KeeperException.LockLost lockLost() {
    return new KeeperException.LockLost("session " + id, epoch);
  }
}
