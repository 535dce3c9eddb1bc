package dev.sessionkeeper.postgres.unordered;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.jdbc.BinaryResults;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.postgres.poll.ChangeSignal;
import dev.sessionkeeper.postgres.queue.LocalQueue;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.MessageSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A queue without sessions. Each message has a lock of its own. */
public final class UnorderedQueue implements MessageSource, LocalQueue {
  private static final String RECEIVE =
      "SELECT " + HandedRow.COLUMNS + " FROM keeper.receive_loose(?, ?, ?, ?)";
  private static final String WAKE = "SELECT woken, next_us FROM keeper.wake_loose(?, ?)";
  private static final String RENEW =
      """
      UPDATE keeper.loose_message
         SET visible_at = clock_timestamp() + (SELECT keeper.micros(k.lock_us) FROM keeper.queue k WHERE k.id = ?)
       WHERE queue = ? AND seq = ? AND receipt = ? AND visible_at > clock_timestamp()
      RETURNING visible_at
      """; // loose_message_pkey (queue, seq)
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos();

  private final QueueContext queue;
  private final ChangeSignal changes = new ChangeSignal();
  private final SettleUnordered settles;
  private volatile boolean closed;

  public UnorderedQueue(QueueContext queue) {
    this.queue = queue;
    this.settles = new SettleUnordered(queue, changes);
  }

  @Override
  public List<Receipted> receive(int max, Duration wait) throws InterruptedException {
    return receive(BatchLimit.of(max), wait);
  }

  @Override
  public List<Receipted> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    queue.listen();
    long started = queue.time().nanoTime();
    while (true) {
      if (closed) {
        throw new KeeperException.Closed("Queue " + queue.name());
      }
      long seen = changes.count();
      var batch = queue.connections().call(connection -> receive(connection, limit));
      if (!batch.isEmpty()) {
        return batch;
      }
      var woken = wakeLate();
      if (woken.count > 0) {
        continue;
      }
      long left = wait.toNanos() - (queue.time().nanoTime() - started);
      if (left <= 0) {
        return List.of();
      }
      changes.await(seen, Math.min(left, Math.min(LOOK_NANOS, woken.nextNanos)));
    }
  }

  private List<Receipted> receive(Connection connection, BatchLimit limit) throws SQLException {
    try (var statement = BinaryResults.prepare(connection, RECEIVE)) {
      statement.setInt(1, queue.id());
      statement.setInt(2, limit.messages());
      statement.setLong(3, limit.bytes());
      statement.setLong(4, queue.node().shard());
      try (var rows = statement.executeQuery()) {
        var batch = new ArrayList<Receipted>();
        while (rows.next()) {
          var delivery = HandedRow.delivery(rows, Optional.empty());
          var receipt = new Receipt(delivery.sequence(), HandedRow.epoch(rows));
          batch.add(new Receipted(delivery, receipt.toString(), HandedRow.until(rows)));
        }
        return batch;
      }
    }
  }

  private record Woken(int count, long nextNanos) {}

  /** Ends locks that expired, and dead-letters expired messages. Returns when to do so again. */
  private Woken wakeLate() {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(WAKE)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, queue.node().shard());
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  int count = rows.getInt(1);
                  long next = rows.getLong(2);
                  return new Woken(
                      count, rows.wasNull() ? Long.MAX_VALUE : next * 1000 + 1_000_000);
                }
              }
            });
  }

  @Override
  public void applyDue() {
    wakeLate();
  }

  @Override
  public void beforePurge() {
    // Every message is a row.
  }

  @Override
  public void afterPurge() {
    // Nothing is read ahead.
  }

  @Override
  public CompletionStage<Void> settle(String receipt, Settlement settlement) {
    var parsed = Receipt.parse(receipt);
    return parsed.isEmpty()
        ? CompletableFuture.failedFuture(Receipt.lost(receipt))
        : settles.settle(parsed.get(), settlement);
  }

  @Override
  public Instant renew(String receipt) {
    var parsed = Receipt.parse(receipt).orElseThrow(() -> Receipt.lost(receipt));
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(RENEW)) {
                statement.setInt(1, queue.id());
                statement.setInt(2, queue.id());
                statement.setLong(3, parsed.sequence());
                statement.setLong(4, parsed.proof());
                try (var rows = statement.executeQuery()) {
                  if (!rows.next()) {
                    throw Receipt.lost(receipt);
                  }
                  return Instants.of(rows, 1);
                }
              }
            });
  }

  @Override
  public void wake() {
    changes.signal();
  }

  @Override
  public void sent(boolean areSendersHeldUp) {
    wake();
    queue.tellOthers();
  }

  @Override
  public void tellNews(SessionId session) {
    changes.signal();
  }

  @Override
  public void close() {
    closed = true;
    changes.signal();
  }
}
