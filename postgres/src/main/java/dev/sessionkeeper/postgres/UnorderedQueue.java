package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
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

/** A queue without sessions: each message is its own lane and is locked on its own. */
final class UnorderedQueue implements MessageSource, LocalQueue {
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

  private final QueueTable.Known known;
  private final Setup setup;
  private final Pulse pulse = new Pulse();
  private final SettleLoose settles;
  private volatile boolean closed;

  UnorderedQueue(QueueTable.Known known, Setup setup) {
    this.known = known;
    this.setup = setup;
    this.settles = new SettleLoose(known, setup, pulse);
  }

  @Override
  public List<Receipted> receive(int max, Duration wait) throws InterruptedException {
    return receive(BatchLimit.of(max), wait);
  }

  @Override
  public List<Receipted> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    setup.listen();
    long started = setup.time().nanoTime();
    while (true) {
      if (closed) {
        throw new KeeperException.Closed("Queue " + known.name());
      }
      long seen = pulse.beats();
      var batch = setup.connections().call(connection -> receive(connection, limit));
      if (!batch.isEmpty()) {
        return batch;
      }
      var woken = wakeLate();
      if (woken.count > 0) {
        continue;
      }
      long left = wait.toNanos() - (setup.time().nanoTime() - started);
      if (left <= 0) {
        return List.of();
      }
      pulse.await(seen, Math.min(left, Math.min(LOOK_NANOS, woken.nextNanos)));
    }
  }

  private List<Receipted> receive(Connection connection, BatchLimit limit) throws SQLException {
    try (var statement = BinaryAnswer.prepare(connection, RECEIVE)) {
      statement.setInt(1, known.id());
      statement.setInt(2, limit.messages());
      statement.setLong(3, limit.bytes());
      statement.setLong(4, setup.node().shard());
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

  /** Locks that ran out and messages that are too old; tells when to look again. */
  private Woken wakeLate() {
    return setup
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(WAKE)) {
                statement.setInt(1, known.id());
                statement.setLong(2, setup.node().shard());
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

  void lookAtLate() {
    wakeLate();
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
    return setup
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(RENEW)) {
                statement.setInt(1, known.id());
                statement.setInt(2, known.id());
                statement.setLong(3, parsed.sequence());
                statement.setLong(4, parsed.proof());
                try (var rows = statement.executeQuery()) {
                  if (!rows.next()) {
                    throw Receipt.lost(receipt);
                  }
                  return HandedRow.instant(rows, 1);
                }
              }
            });
  }

  @Override
  public void wake() {
    pulse.beat();
  }

  @Override
  public void sent(boolean areSendersHeldUp) {
    wake();
    setup.notifications().sent(known.id());
  }

  @Override
  public void tellNews(SessionId session) {
    pulse.beat();
  }

  @Override
  public void close() {
    closed = true;
    pulse.beat();
  }
}
