package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.BatchRow;
import dev.sessionkeeper.postgres.batch.ReaderBuckets;
import dev.sessionkeeper.postgres.jdbc.BinaryResults;
import dev.sessionkeeper.postgres.jdbc.Micros;
import dev.sessionkeeper.postgres.jdbc.OneRow;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.LeftToRead;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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
  private static final String FAILED =
      "SELECT session, seq, attempts FROM keeper.failed_head WHERE queue = ?"; // failed_head_pkey
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
    return change(
        BECOME,
        ReaderTable::assignment,
        queue.id(),
        queue.node().id(),
        least,
        Micros.of(alone),
        joins);
  }

  private static Optional<BucketAssignment> assignment(ResultSet row) throws SQLException {
    long epoch = row.getLong(1);
    return row.wasNull()
        ? Optional.empty()
        : Optional.of(
            new BucketAssignment(
                epoch, row.getLong(2), row.getString(3), Duration.ofNanos(row.getLong(4) * 1000)));
  }

  private <T> T change(String sql, OneRow.Reader<T> reader, Object... parameters) {
    return queue.connections().call(connection -> OneRow.of(connection, sql, reader, parameters));
  }

  /**
   * Returns the messages of batches that readers before this one have retried. Only the reader of a
   * bucket writes there, so a reader reads them once.
   */
  Map<SessionId, FailedHead> failedHeads() {
    return queue
        .connections()
        .look(
            connection -> {
              try (var statement = connection.prepareStatement(FAILED)) {
                statement.setInt(1, queue.id());
                try (var rows = statement.executeQuery()) {
                  var failed = new HashMap<SessionId, FailedHead>();
                  while (rows.next()) {
                    failed.put(
                        SessionId.of(rows.getString(1)),
                        new FailedHead(rows.getLong(2), rows.getInt(3)));
                  }
                  return failed;
                }
              }
            });
  }

  /** Extends the lease of the reader. Returns false if it has ended. */
  boolean beat(long epoch) {
    return change(HEARTBEAT, row -> row.getBoolean(1), queue.id(), epoch);
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
        .look(connection -> OneRow.of(connection, LOOK, ReaderTable::others, queue.id(), epoch));
  }

  private static Optional<Others> others(ResultSet row) throws SQLException {
    long free = row.getLong(1);
    return row.wasNull()
        ? Optional.empty()
        : Optional.of(
            new Others(
                free, row.getBoolean(2), row.getBoolean(3), ReaderBuckets.of(row.getArray(4))));
  }

  /**
   * Ends readers whose lease has expired, and persists the sessions that they may have handed out.
   */
  void endDead() {
    boolean unused = change(END_DEAD, row -> true, queue.id(), queue.node().shard());
  }

  /** Ends a reading of this process that began without an answer. */
  void forgetOwn() {
    boolean unused = change(FORGET, row -> true, queue.id(), queue.node().id());
  }
}
