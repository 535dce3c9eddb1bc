package dev.sessionkeeper.jobs;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/** One PostgreSQL for the tests of this module, and an empty database for each test. */
final class TestDatabase {
  static {
    // Applies to all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  private static final EmbeddedPostgres POSTGRES = start();
  private static final String TEMPLATE = migrated("jobs_template");
  private static final AtomicInteger COUNT = new AtomicInteger();

  final String name = "jobs" + COUNT.incrementAndGet();
  final DataSource source = POSTGRES.copyDatabase(TEMPLATE, name);
  final Database database = Database.of(source);

  TestDatabase() {
    execute(
        "CREATE TABLE effect (at bigserial PRIMARY KEY, job text, epoch bigint, slot timestamptz)");
  }

  static String url(String name) {
    return POSTGRES.jdbcUrl(name);
  }

  static String password() {
    return POSTGRES.password();
  }

  void execute(String sql) {
    database.doInTransaction(
        connection -> {
          try (var statement = connection.createStatement()) {
            statement.execute(sql);
          }
        });
  }

  long number(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
          }
        });
  }

  String text(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            rows.next();
            return String.valueOf(rows.getString(1));
          }
        });
  }

  /** Returns a copy of a database in which the migrations have run once. */
  private static String migrated(String name) {
    Jobs.migrate(POSTGRES.createDatabase(name));
    return name;
  }

  private static EmbeddedPostgres start() {
    var postgres = EmbeddedPostgres.temporaryWithoutSync();
    Runtime.getRuntime().addShutdownHook(new Thread(postgres::close));
    return postgres;
  }
}
