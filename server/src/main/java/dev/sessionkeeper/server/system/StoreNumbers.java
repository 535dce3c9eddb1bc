package dev.sessionkeeper.server.system;

import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;

/** Reads the statistics of the database. */
final class StoreNumbers {
  private static final String NUMBERS =
      """
      SELECT pg_database_size(current_database()), current_setting('server_version'),
             (SELECT COALESCE(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 FROM pg_stat_activity
               WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()),
             (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
      """;
  private static final String TABLES =
      """
      SELECT relname, n_live_tup, n_dead_tup, pg_total_relation_size(relid) FROM pg_stat_user_tables
       WHERE schemaname = 'keeper' ORDER BY pg_total_relation_size(relid) DESC LIMIT 12
      """;
  private static final String READERS =
      """
      SELECT k.name, r.node, r.owns, r.begun_at FROM keeper.reader r JOIN keeper.queue k ON k.id = r.queue
       WHERE r.until > clock_timestamp() ORDER BY k.name, r.epoch LIMIT 200
      """; // reader_pkey

  private final Database database;
  private final boolean hasQueues;

  /**
   * Creates a reader of the statistics.
   *
   * @param hasQueues whether the queues are in this database, too
   */
  StoreNumbers(Database database, boolean hasQueues) {
    this.database = database;
    this.hasQueues = hasQueues;
  }

  /** A table of the store; row counts are estimates. */
  record Table(String name, long rows, long deadRows, long size) {}

  /**
   * A process that reads a queue into its memory.
   *
   * @param share the percentage of the queue's sessions that it reads
   */
  record Reader(String queue, String node, int share, Instant since) {}

  /** The store as a whole. */
  record Store(
      String version,
      long size,
      Duration oldestTransaction,
      long connections,
      List<Table> tables,
      List<Reader> readers) {}

  Store read() {
    return database.withConnection(
        connection -> {
          var tables = new ArrayList<Table>();
          try (var statement = connection.prepareStatement(TABLES);
              var rows = statement.executeQuery()) {
            while (rows.next()) {
              tables.add(
                  new Table(rows.getString(1), rows.getLong(2), rows.getLong(3), rows.getLong(4)));
            }
          }
          try (var statement = connection.prepareStatement(NUMBERS);
              var rows = statement.executeQuery()) {
            rows.next();
            return new Store(
                rows.getString(2),
                rows.getLong(1),
                Duration.ofMillis((long) (Math.max(0, rows.getDouble(3)) * 1000)),
                rows.getLong(4),
                tables,
                hasQueues ? readers(connection) : List.of());
          }
        });
  }

  private static List<Reader> readers(Connection connection) throws SQLException {
    var readers = new ArrayList<Reader>();
    try (var statement = connection.prepareStatement(READERS);
        var rows = statement.executeQuery()) {
      while (rows.next()) {
        readers.add(
            new Reader(
                rows.getString(1),
                rows.getString(2),
                Math.round(100f * Long.bitCount(rows.getLong(3)) / Long.SIZE),
                rows.getObject(4, OffsetDateTime.class).toInstant()));
      }
    }
    return readers;
  }
}
