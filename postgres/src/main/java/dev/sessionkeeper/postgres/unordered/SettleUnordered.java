package dev.sessionkeeper.postgres.unordered;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.jdbc.Micros;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.jdbc.StorableText;
import dev.sessionkeeper.postgres.poll.ChangeSignal;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Settles messages of an unordered queue. Completions that meet share a statement. */
public final class SettleUnordered {
  private static final int RETRIED = 1;
  private static final int POSTPONED = 5;
  private static final String COMPLETE = "SELECT * FROM keeper.complete_loose(?, ?, ?, ?)";
  private static final String SETTLE = "SELECT keeper.settle_loose(?, ?, ?, ?, ?, ?, ?, ?, ?)";

  private final QueueContext queue;
  private final ChangeSignal changes;
  private final GroupCalls<Call> group;

  SettleUnordered(QueueContext queue, ChangeSignal changes) {
    this.queue = queue;
    this.changes = changes;
    this.group =
        new GroupCalls<>(
            "keeper-complete-" + queue.name(), 1024, Rhythm.atOnce(), this::completeAll);
  }

  private record Call(Receipt receipt, CompletableFuture<Void> answer) {}

  CompletionStage<Void> settle(Receipt receipt, Settlement settlement) {
    return switch (settlement) {
      case Settlement.Complete complete -> {
        var call = new Call(receipt, new CompletableFuture<>());
        group.add(call);
        yield call.answer;
      }
      case Settlement.Retry retry ->
          settle(
              receipt,
              retry.counted() ? RETRIED : POSTPONED,
              Micros.of(retry.delay()),
              retry.limited(),
              retry.reason(),
              "");
      case Settlement.DeadLetter letter ->
          settle(receipt, 2, 0, false, letter.reason(), letter.error());
      // An unordered message has no session to park, so it is dead-lettered alone.
      case Settlement.Park park -> settle(receipt, 2, 0, false, park.reason(), "");
    };
  }

  private void completeAll(List<Call> calls) {
    try {
      var lost = queue.connections().call(connection -> completeAll(connection, calls));
      for (var call : calls) {
        if (lost.contains(call.receipt.sequence())) {
          call.answer.completeExceptionally(Receipt.lost(call.receipt.toString()));
        } else {
          call.answer.complete(null);
        }
      }
    } catch (RuntimeException e) {
      calls.forEach(call -> call.answer.completeExceptionally(e));
    }
  }

  private Set<Long> completeAll(Connection connection, List<Call> calls) throws SQLException {
    try (var statement = connection.prepareStatement(COMPLETE)) {
      statement.setInt(1, queue.id());
      statement.setArray(
          2,
          SqlArray.of(
              connection,
              "int8",
              calls.stream().mapToLong(call -> call.receipt.sequence()).toArray()));
      statement.setArray(
          3,
          SqlArray.of(
              connection,
              "int8",
              calls.stream().mapToLong(call -> call.receipt.proof()).toArray()));
      statement.setLong(4, queue.node().shard());
      try (var rows = statement.executeQuery()) {
        var lost = new HashSet<Long>();
        while (rows.next()) {
          lost.add(rows.getLong(1));
        }
        return lost;
      }
    }
  }

  private CompletionStage<Void> settle(
      Receipt receipt, int act, long delay, boolean limited, String reason, String error) {
    try {
      boolean held =
          queue
              .connections()
              .call(
                  connection -> {
                    try (var statement = connection.prepareStatement(SETTLE)) {
                      statement.setInt(1, queue.id());
                      statement.setLong(2, receipt.sequence());
                      statement.setLong(3, receipt.proof());
                      statement.setInt(4, act);
                      statement.setLong(5, delay);
                      statement.setBoolean(6, limited);
                      statement.setString(7, StorableText.storable(reason));
                      statement.setString(8, StorableText.storable(error));
                      statement.setLong(9, queue.node().shard());
                      try (var rows = statement.executeQuery()) {
                        rows.next();
                        return rows.getBoolean(1);
                      }
                    }
                  });
      changes.signal();
      return held
          ? CompletableFuture.completedFuture(null)
          : CompletableFuture.failedFuture(Receipt.lost(receipt.toString()));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
