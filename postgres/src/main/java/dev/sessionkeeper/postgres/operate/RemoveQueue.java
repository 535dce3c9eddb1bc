package dev.sessionkeeper.postgres.operate;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.jdbc.AlsoWrite;
import dev.sessionkeeper.postgres.queue.KnownQueue;
import dev.sessionkeeper.postgres.queue.LocalQueue;
import dev.sessionkeeper.postgres.queue.ProviderContext;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Purges and deletes queues. A queue may have millions of messages, so the statements have minutes.
 */
public final class RemoveQueue {
  private static final String PURGE = "SELECT keeper.purge_queue(?, ?)";
  private static final String PURGE_DEAD_LETTERS = "SELECT keeper.purge_dead_letters(?, ?)";
  private static final String DELETE =
      """
      WITH gone AS (DELETE FROM keeper.queue WHERE id = ? RETURNING id)
      SELECT keeper.delete_rows_of(id) FROM gone
      """; // queue_pkey (id)
  private static final String DELETE_REST = "SELECT keeper.delete_rows_of(?)";

  private static final long IS_CACHED = -1;
  private static final Duration LONGEST_STATEMENT = Duration.ofMinutes(5);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final ProviderContext setup;
  private final Database database;

  public RemoveQueue(ProviderContext setup) {
    this.setup = setup;
    this.database = Database.of(setup.connections().source()).patient(LONGEST_STATEMENT);
  }

  /**
   * Deletes all messages.
   *
   * @param queue the queue in this process
   */
  public long purge(KnownQueue known, LocalQueue queue, AlsoWrite alsoWrite) {
    long began = setup.time().nanoTime();
    while (setup.time().since(began).compareTo(PATIENCE) < 0) {
      queue.beforePurge();
      long purged = tryPurge(known, alsoWrite);
      if (purged != IS_CACHED) {
        queue.afterPurge();
        return purged;
      }
    }
    throw new KeeperException.Unavailable(
        "Queue " + known.name() + ", which another process reads alone,");
  }

  private long tryPurge(KnownQueue known, AlsoWrite alsoWrite) {
    return database.inTransaction(
        connection -> {
          long purged = count(connection, PURGE, known);
          if (purged != IS_CACHED) {
            alsoWrite.write(connection, clipped(purged));
          }
          return purged;
        });
  }

  public long purgeDeadLetters(KnownQueue known, AlsoWrite alsoWrite) {
    return database.inTransaction(
        connection -> {
          long purged = count(connection, PURGE_DEAD_LETTERS, known);
          alsoWrite.write(connection, clipped(purged));
          return purged;
        });
  }

  /** Deletes the queue. Returns false if another process was faster. */
  public boolean delete(KnownQueue known, AlsoWrite alsoWrite) {
    boolean isGone =
        database.inTransaction(
            connection -> {
              boolean found = run(connection, DELETE, known);
              if (found) {
                alsoWrite.write(connection, 1);
              }
              return found;
            });
    // A send that had read the settings before the deletion may have stored its messages after it.
    database.inTransaction(connection -> run(connection, DELETE_REST, known));
    return isGone;
  }

  private static int clipped(long count) {
    return (int) Math.min(Integer.MAX_VALUE, count);
  }

  private long count(Connection connection, String sql, KnownQueue known) throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      statement.setInt(1, known.id());
      statement.setLong(2, setup.node().shard());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    }
  }

  private static boolean run(Connection connection, String sql, KnownQueue known)
      throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      statement.setInt(1, known.id());
      try (var rows = statement.executeQuery()) {
        return rows.next();
      }
    }
  }
}
