package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Databases of one PostgreSQL that all tests of this process share. */
final class TestDatabase {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final EmbeddedPostgres POSTGRES = dev.sessionkeeper.server.TestDatabase.shared();

  private TestDatabase() {}

  /** A database of its own, and how to reach it. */
  record Fresh(DataSource source, String url, String user, String password) {}

  static Fresh create() {
    var name = "gateway_" + COUNT.incrementAndGet();
    return fresh(name, POSTGRES.createDatabase(name));
  }

  /** A copy of one that nobody is connected to. */
  static Fresh copyOf(Fresh prepared) throws SQLException {
    var name = "gateway_" + COUNT.incrementAndGet();
    var template = prepared.url().replaceAll(".*/([a-z0-9_]+).*", "$1");
    // One at a time: a template that is being copied cannot be copied.
    synchronized (COUNT) {
      try (var connection = POSTGRES.adminDataSource().getConnection();
          var statement = connection.createStatement()) {
        statement.execute(
            "CREATE DATABASE %s TEMPLATE %s OWNER %s".formatted(name, template, POSTGRES.user()));
      }
    }
    return fresh(name, POSTGRES.dataSource(name));
  }

  private static Fresh fresh(String name, DataSource source) {
    return new Fresh(source, POSTGRES.jdbcUrl(name), POSTGRES.user(), POSTGRES.password());
  }
}
