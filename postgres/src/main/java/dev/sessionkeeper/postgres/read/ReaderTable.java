package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.postgres.batch.BatchRow;
import dev.sessionkeeper.postgres.batch.ReaderBuckets;
import dev.sessionkeeper.postgres.jdbc.BinaryResults;
import dev.sessionkeeper.postgres.jdbc.Micros;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.LeftToRead;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** The table of the readers of a queue: one statement for each step. */
public final class ReaderTable {
  private static final String BECOME =
      "SELECT my_epoch, my_buckets, known_to, lease_us FROM keeper.become_reader(?, ?, ?, ?, ?)";
  private static final String READ =
      "SELECT "
          + HandedRow.COLUMNS
          + BatchRow.COLUMNS
          + " FROM keeper.read_new(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String READ_LEFT =
      "SELECT "
          + HandedRow.COLUMNS
          + BatchRow.COLUMNS
          + " FROM keeper.read_found(?, ?, ?::pg_snapshot, ?::pg_snapshot, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String HEARTBEAT = "SELECT keeper.beat_reader(?, ?)";
  private static final String LOOK =
      "SELECT free, must_stop, are_dead, masks FROM keeper.look_at_readers(?, ?)";
  private static final String END_DEAD = "SELECT keeper.bury_readers(?, ?)";
  private static final String FORGET = "SELECT keeper.forget_reader(?, ?)";

  private final QueueContext queue;

  ReaderTable(QueueContext queue) {
    this.queue = queue;
  }

  /**
   * Becomes a reader.
   *
   * @param least how many new messages there must be
   * @param joins whether to take a share if others read already
   * @return empty if others read and this process does not join, or if no process should read
   */
  Optional<BucketAssignment> become(int least, Duration alone, boolean joins) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(BECOME)) {
                statement.setInt(1, queue.id());
                statement.setString(2, queue.node().id());
                statement.setInt(3, least);
                statement.setLong(4, Micros.of(alone));
                statement.setBoolean(5, joins);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  long epoch = rows.getLong(1);
                  return rows.wasNull()
                      ? Optional.empty()
                      : Optional.of(
                          new BucketAssignment(
                              epoch,
                              rows.getLong(2),
                              rows.getString(3),
                              Duration.ofNanos(rows.getLong(4) * 1000)));
                }
              }
            });
  }

  /** Extends the lease of the reader. Returns false if it has ended. */
  boolean beat(long epoch) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(HEARTBEAT)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, epoch);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  return rows.getBoolean(1);
                }
              }
            });
  }

  /**
   * Reads the messages that became visible since the last snapshot, or the next page of them.
   *
   * @param relieves whether sessions that need no row any more come back into memory
   * @param cached the sessions in memory, if the answer to a read that took sessions back from rows
   *     was lost
   */
  ReadResult read(
      ReaderLease reading, int most, long mostBytes, boolean relieves, Optional<String[]> cached) {
    var news = readSome(reading, most, mostBytes, relieves, cached);
    var left = news.leftToRead();
    if (left.isPresent()) {
      queue
          .connections()
          .look(
              connection -> {
                readLeft(connection, reading, news, left.get());
                return true;
              });
    }
    news.putInOrder();
    return news;
  }

  /** Reads payloads by a statement that locks nothing, so that it may take long. */
  private void readLeft(
      Connection connection, ReaderLease reading, ReadResult news, LeftToRead found)
      throws SQLException {
    try (var statement = BinaryResults.prepare(connection, READ_LEFT)) {
      statement.setInt(1, queue.id());
      statement.setLong(2, reading.buckets());
      statement.setString(3, reading.knownTo());
      statement.setString(4, news.known.snapshot());
      statement.setLong(5, reading.after());
      found.bind(statement, 6);
      var rest = new ReadResult(reading.buckets());
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          rest.add(rows);
        }
      }
      news.takeMessagesOf(rest);
    }
  }

  private ReadResult readSome(
      ReaderLease reading, int most, long mostBytes, boolean relieves, Optional<String[]> cached) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = BinaryResults.prepare(connection, READ)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, reading.epoch());
                statement.setString(3, reading.knownTo());
                statement.setLong(4, reading.knownSequence());
                statement.setString(5, reading.goal());
                statement.setLong(6, reading.after());
                statement.setInt(7, most);
                statement.setLong(8, mostBytes);
                statement.setBoolean(9, reading.isFirst());
                statement.setBoolean(10, relieves);
                statement.setArray(
                    11, cached.isPresent() ? SqlArray.of(connection, "text", cached.get()) : null);
                try (var rows = statement.executeQuery()) {
                  var news = new ReadResult(reading.buckets());
                  while (rows.next()) {
                    news.add(rows);
                  }
                  return news;
                }
              }
            });
  }

  /**
   * The other readers of the queue.
   *
   * @param free the buckets that this reader should have and no other has
   * @param areDead whether the lease of a reader has ended
   * @param parts the buckets of each reader
   */
  public record Others(long free, boolean mustStop, boolean areDead, long[] parts) {}

  /** Returns the other readers; empty if this process is no reader any more. */
  Optional<Others> others(long epoch) {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(LOOK)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, epoch);
                try (var rows = statement.executeQuery()) {
                  rows.next();
                  long free = rows.getLong(1);
                  return rows.wasNull()
                      ? Optional.empty()
                      : Optional.of(
                          new Others(
                              free,
                              rows.getBoolean(2),
                              rows.getBoolean(3),
                              ReaderBuckets.of(rows.getArray(4))));
                }
              }
            });
  }

  /**
   * Ends readers whose lease has expired, and persists the sessions that they may have handed out.
   */
  void endDead() {
    queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(END_DEAD)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, queue.node().shard());
                return statement.execute();
              }
            });
  }

  /** Ends a reading of this process that began without an answer. */
  void forgetOwn() {
    queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(FORGET)) {
                statement.setInt(1, queue.id());
                statement.setString(2, queue.node().id());
                return statement.execute();
              }
            });
  }
}
