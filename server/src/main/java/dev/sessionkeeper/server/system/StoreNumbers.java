package dev.sessionkeeper.server.system;

import dev.sessionkeeper.store.Database;
import java.time.Duration;
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

  private final Database database;

  StoreNumbers(Database database) {
    this.database = database;
  }

  /** A table of the store; row counts are estimates. */
  record Table(String name, long rows, long deadRows, long size) {}

  /** The store as a whole. */
  record Store(
      String version,
      long size,
      Duration oldestTransaction,
      long connections,
      List<Table> tables) {}

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
                tables);
          }
        });
  }
}
