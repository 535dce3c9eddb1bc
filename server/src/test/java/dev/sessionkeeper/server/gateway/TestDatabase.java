package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Databases of one PostgreSQL that all tests of this process share. */
final class TestDatabase {
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final EmbeddedPostgres POSTGRES = dev.sessionkeeper.server.TestDatabase.shared();

  private TestDatabase() {}

  /** A database of its own, and its address. */
  record Fresh(DataSource source, String url, String user, String password) {}

  static Fresh create() {
    var name = "gateway_" + COUNT.incrementAndGet();
    return fresh(name, dev.sessionkeeper.server.TestDatabase.copy(name));
  }

  /** Copies a database without connections. */
  static Fresh copyOf(Fresh prepared) {
    var name = "gateway_" + COUNT.incrementAndGet();
    var template = prepared.url().replaceAll(".*/([a-z0-9_]+).*", "$1");
    return fresh(name, POSTGRES.copyDatabase(template, name));
  }

  private static Fresh fresh(String name, DataSource source) {
    return new Fresh(source, POSTGRES.jdbcUrl(name), POSTGRES.user(), POSTGRES.password());
  }
}
