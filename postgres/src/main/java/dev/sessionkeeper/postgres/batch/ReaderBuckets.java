package dev.sessionkeeper.postgres.batch;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The buckets of each reader of a queue, as senders need to know them: they store messages of one
 * reader together. If this knowledge is out of date, a batch gets messages of several readers,
 * which is slower but correct.
 */
public final class ReaderBuckets {
  private static final String LOOK = "SELECT keeper.parts_of_readers(?)";
  private static final long LOOK_AGAIN_NANOS = Duration.ofMillis(250).toNanos();

  private final int queue;
  private final Connections connections;
  private final TimeSource time;
  private volatile long[] parts = {};
  private volatile long knownAt;

  public ReaderBuckets(int queue, Connections connections, TimeSource time) {
    this.queue = queue;
    this.connections = connections;
    this.time = time;
    this.knownAt = time.nanoTime() - LOOK_AGAIN_NANOS;
  }

  /** Returns the buckets of each reader, as far as this process knows. */
  public long[] known() {
    return parts;
  }

  /** Returns the buckets of each reader as they were a moment ago. */
  public long[] lately() {
    if (time.nanoTime() - knownAt >= LOOK_AGAIN_NANOS) {
      knownAt = time.nanoTime();
      try {
        parts = connections.tryCall(this::look);
      } catch (SQLException | KeeperException e) {
        return parts; // The send that follows gets the error.
      }
    }
    return parts;
  }

  /** Records the buckets that this process has just read from the database. */
  public void told(long[] seen) {
    parts = seen;
    knownAt = time.nanoTime();
  }

  private long[] look(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(LOOK)) {
      statement.setInt(1, queue);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return of(rows.getArray(1));
      }
    }
  }

  public static long[] of(@Nullable Array array) throws SQLException {
    if (array == null) {
      return new long[0];
    }
    var values = (Long[]) array.getArray();
    return Arrays.stream(values).mapToLong(Long::longValue).toArray();
  }
}
