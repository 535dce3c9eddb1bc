package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Databases of one PostgreSQL that all tests of this process share. */
final class TestDatabase {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private TestDatabase() {}

  private static final class Shared {
    static final EmbeddedPostgres POSTGRES = start();

    private static EmbeddedPostgres start() {
      var postgres = EmbeddedPostgres.temporaryWithoutSync();
      Runtime.getRuntime().addShutdownHook(new Thread(postgres::close));
      return postgres;
    }
  }

  /** A database of its own, and how to reach it. */
  record Fresh(DataSource source, String url, String user, String password) {}

  static Fresh create() {
    var postgres = Shared.POSTGRES;
    var name = "gateway_" + COUNT.incrementAndGet();
    return new Fresh(
        postgres.createDatabase(name),
        postgres.jdbcUrl(name),
        postgres.user(),
        postgres.password());
  }
}
