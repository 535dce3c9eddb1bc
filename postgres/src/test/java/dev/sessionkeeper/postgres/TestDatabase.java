package dev.sessionkeeper.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.sql.SQLException;

/** A real PostgreSQL for the tests of this module, with a pool as an application would have one. */
public final class TestDatabase implements AutoCloseable {
  private static final String CUT =
      """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%keeper.%'
      """;

  private final EmbeddedPostgres postgres;
  private final HikariDataSource pool;

  private TestDatabase(EmbeddedPostgres postgres) {
    this.postgres = postgres;
    var config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(24);
    config.setMinimumIdle(2);
    this.pool = new HikariDataSource(config);
  }

  public static TestDatabase start() {
    return new TestDatabase(EmbeddedPostgres.temporaryWithoutSync());
  }

  static TestDatabase startDurable() {
    return new TestDatabase(EmbeddedPostgres.temporary());
  }

  public HikariDataSource pool() {
    return pool;
  }

  /** A number that a statement finds out about a queue, whose name is its parameter. */
  public long number(String sql, QueueName queue) {
    try (var connection = pool.getConnection();
        var statement = connection.prepareStatement(sql)) {
      statement.setString(1, queue.value());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The rows of a table, or a view, that belong to a queue. */
  long count(String table, QueueName queue) {
    return number(
        "SELECT count(*) FROM keeper."
            + table
            + " t JOIN keeper.queue k ON k.id = t.queue WHERE k.name = ?",
        queue);
  }

  /** Breaks all connections that the queues use, and tells how many. */
  int cutConnections() {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(CUT)) {
      rows.next();
      return rows.getInt(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  EmbeddedPostgres postgres() {
    return postgres;
  }

  @Override
  public void close() {
    pool.close();
    postgres.close();
  }
}
