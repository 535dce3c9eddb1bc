package dev.sessionkeeper.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.sql.SQLException;

/** A real PostgreSQL for the tests of this module, with a pool as an application would have one. */
final class TestDatabase implements AutoCloseable {
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

  static TestDatabase start() {
    return new TestDatabase(EmbeddedPostgres.temporaryWithoutSync());
  }

  static TestDatabase startDurable() {
    return new TestDatabase(EmbeddedPostgres.temporary());
  }

  HikariDataSource pool() {
    return pool;
  }

  /** A number that a statement finds out about a queue, whose name is its parameter. */
  long number(String sql, QueueName queue) {
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

  EmbeddedPostgres postgres() {
    return postgres;
  }

  @Override
  public void close() {
    pool.close();
    postgres.close();
  }
}
