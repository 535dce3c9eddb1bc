package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Who reads a queue, in the database: one statement for each step. */
final class ReaderTable {
  private static final String BECOME =
      "SELECT my_epoch, my_buckets, known_to, lease_us FROM keeper.become_reader(?, ?, ?, ?, ?)";
  private static final String READ =
      "SELECT "
          + HandedRow.COLUMNS
          + BundleRow.COLUMNS
          + " FROM keeper.read_new(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String READ_LEFT =
      "SELECT "
          + HandedRow.COLUMNS
          + BundleRow.COLUMNS
          + " FROM keeper.read_found(?, ?, ?::pg_snapshot, ?::pg_snapshot, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String BEAT = "SELECT keeper.beat_reader(?, ?)";
  private static final String LOOK =
      "SELECT free, must_stop, are_dead, masks FROM keeper.look_at_readers(?, ?)";
  private static final String BURY = "SELECT keeper.bury_readers(?, ?)";
  private static final String FORGET = "SELECT keeper.forget_reader(?, ?)";

  private final QueueContext queue;

  ReaderTable(QueueContext queue) {
    this.queue = queue;
  }

  /**
   * Becomes a reader.
   *
   * @param least how much must be new for that
   * @param joins whether it takes its part where others read already
   * @return empty when there is one that it may not join, or should be none
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

  /** Extends the lease of the reader; false when it has ended. */
  boolean beat(long epoch) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(BEAT)) {
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
   * What became visible since that snapshot, or the next page of it.
   *
   * @param relieves whether sessions whose lanes are not needed any more are carried again
   * @param carried sessions in memory, when the answer to a look that let lanes go was lost
   */
  ReadResult read(
      Reading reading, int most, long mostBytes, boolean relieves, Optional<String[]> carried) {
    var news = readSome(reading, most, mostBytes, relieves, carried);
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

  /** Reads bodies by a statement that locks nothing: it may take as long as it wants. */
  private void readLeft(Connection connection, Reading reading, ReadResult news, LeftToRead found)
      throws SQLException {
    try (var statement = BinaryAnswer.prepare(connection, READ_LEFT)) {
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
      Reading reading, int most, long mostBytes, boolean relieves, Optional<String[]> carried) {
    return queue
        .connections()
        .call(
            connection -> {
              try (var statement = BinaryAnswer.prepare(connection, READ)) {
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
                    11,
                    carried.isPresent() ? SqlArray.of(connection, "text", carried.get()) : null);
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
   * What a reader has to know of the others.
   *
   * @param free the buckets that it should have and nobody else has
   * @param areDead whether a reader has left without a word
   * @param parts the buckets of each
   */
  record Others(long free, boolean mustStop, boolean areDead, long[] parts) {}

  /** Empty when this process is not a reader any more. */
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
                              PartsOfReaders.of(rows.getArray(4))));
                }
              }
            });
  }

  /** Ends readers whose lease has run out: what they may have had in hand gets lanes. */
  void buryDead() {
    queue
        .connections()
        .call(
            connection -> {
              try (var statement = connection.prepareStatement(BURY)) {
                statement.setInt(1, queue.id());
                statement.setLong(2, queue.node().shard());
                return statement.execute();
              }
            });
  }

  /** Ends a reading that this process began without learning of it. */
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
