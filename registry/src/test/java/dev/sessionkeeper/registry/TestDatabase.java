package dev.sessionkeeper.registry;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Database;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One PostgreSQL for the tests of this module; each test gets an empty database with its own clock.
 */
public final class TestDatabase implements AutoCloseable {
  static {
    // Applies to all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  private static final EmbeddedPostgres POSTGRES = start();
  private static final String TEMPLATE = migrated("registry_template");
  private static final AtomicInteger COUNT = new AtomicInteger();

  public final HikariDataSource source;
  public final Database database;

  private final String name = "registry" + COUNT.incrementAndGet();

  public TestDatabase() {
    var plain = POSTGRES.copyDatabase(TEMPLATE, name);
    var config = new HikariConfig();
    config.setDataSource(plain);
    config.setMaximumPoolSize(16);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(60_000);
    source = new HikariDataSource(config);
    database = Database.of(source);
  }

  /** The port of the database server. */
  static int port() {
    return URI.create(POSTGRES.jdbcUrl().substring("jdbc:".length())).getPort();
  }

  /** Returns unpooled connections through another port; statements travel as text each time. */
  DataSource through(int port) {
    var through = new PGSimpleDataSource();
    through.setUrl(POSTGRES.jdbcUrl(name).replace(":" + port() + "/", ":" + port + "/"));
    through.setUser(POSTGRES.user());
    through.setPassword(POSTGRES.password());
    through.setPrepareThreshold(0);
    return through;
  }

  public void execute(String sql) {
    database.doInTransaction(
        connection -> {
          try (var statement = connection.createStatement()) {
            statement.execute(sql);
          }
        });
  }

  public long number(String sql) {
    return Long.parseLong(text(sql));
  }

  public String text(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            rows.next();
            return String.valueOf(rows.getString(1));
          }
        });
  }

  /** Stops the clock of this database at this time. */
  public void setClock(Instant at) {
    execute("CREATE TABLE IF NOT EXISTS keeper.test_clock (at timestamptz)");
    execute("DELETE FROM keeper.test_clock");
    execute("INSERT INTO keeper.test_clock VALUES ('" + at + "')");
    execute(
        """
        CREATE OR REPLACE FUNCTION keeper.now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
        'SELECT at FROM keeper.test_clock'
        """);
  }

  public void moveClock(Duration by) {
    execute("UPDATE keeper.test_clock SET at = at + interval '" + by.toNanos() / 1000 + " us'");
  }

  public Instant now() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery("SELECT keeper.now()")) {
            rows.next();
            return rows.getObject(1, java.time.OffsetDateTime.class).toInstant();
          }
        });
  }

  public static SessionRequest someone(int kind) {
    return new SessionRequest(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID(), kind);
  }

  /** Returns a request with the same key and another kind. */
  public static SessionRequest again(SessionRequest request, int kind) {
    return new SessionRequest(
        request.userObjectId(), request.tenantObjectId(), request.capacityId(), kind);
  }

  @Override
  public void close() {
    source.close();
  }

  /** Returns a copy of a database in which the migrations have run once. */
  private static String migrated(String name) {
    SessionRegistry.migrate(POSTGRES.createDatabase(name));
    return name;
  }

  private static EmbeddedPostgres start() {
    var postgres = EmbeddedPostgres.temporaryWithoutSync();
    Runtime.getRuntime().addShutdownHook(new Thread(postgres::close));
    return postgres;
  }
}
