package dev.sessionkeeper.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.embedded.EmbeddedPostgres;

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

  EmbeddedPostgres postgres() {
    return postgres;
  }

  @Override
  public void close() {
    pool.close();
    postgres.close();
  }
}
