package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DatabaseTest {
  private static EmbeddedPostgres postgres;
  private static Database database;

  @BeforeAll
  static void start() {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
    database = Database.of(postgres.dataSource());
    Migrations.apply(postgres.dataSource(), "store");
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @Test
  void migrationsAppliedTwiceChangeNothing() {
    Migrations.apply(postgres.dataSource(), "store");
    assertThat(number("SELECT count(*) FROM keeper.schema_history_store WHERE version = '1'"))
        .isEqualTo(1);
  }

  @Test
  void tablesOfANewerReleaseAreRefused() throws SQLException {
    var source = postgres.createDatabase("newer");
    Migrations.apply(source, "store");
    try (var connection = source.getConnection()) {
      run(
          connection,
          """
          INSERT INTO keeper.schema_history_store
                 (installed_rank, version, description, type, script, checksum, installed_by,
                  execution_time, success)
          VALUES (9000, '9000', 'future', 'SQL', 'V9000__future.sql', 1, 'keeper', 1, true)
          """);
    }
    assertThatThrownBy(() -> Migrations.apply(source, "store"))
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("version 9000")
        .hasMessageContaining("Start a release that knows version 9000");
  }

  @Test
  void tablesWithAnotherHistoryThanThoseBeforeAreChecked() throws SQLException {
    var source = postgres.createDatabase("changed");
    Migrations.apply(source, "store");
    try (var connection = source.getConnection()) {
      run(connection, "UPDATE keeper.schema_history_store SET checksum = 1 WHERE version = '1'");
    }
    assertThatThrownBy(() -> Migrations.apply(source, "store"))
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("checksum mismatch");
  }

  @Test
  void workThatThrowsLeavesNothingBehind() {
    execute("CREATE TABLE half (n int)");
    assertThatThrownBy(
            () ->
                database.doInTransaction(
                    connection -> {
                      run(connection, "INSERT INTO half VALUES (1)");
                      throw new IllegalStateException("stop");
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertThat(number("SELECT count(*) FROM half")).isZero();
  }

  @Test
  void aDeadlockIsRepeatedUntilBothAreThrough() throws Exception {
    execute("CREATE TABLE pair (id int PRIMARY KEY, n int)");
    execute("INSERT INTO pair VALUES (1, 0), (2, 0)");
    var runs = new AtomicInteger();
    var meet = new CyclicBarrier(2);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var one = threads.submit(() -> addToBoth(1, 2, meet, runs));
      var two = threads.submit(() -> addToBoth(2, 1, meet, runs));
      one.get();
      two.get();
    }
    assertThat(number("SELECT sum(n) FROM pair")).isEqualTo(4);
    assertThat(runs.get()).isGreaterThan(2);
  }

  /** Limits for requests must end neither a migration nor the transaction that holds its lock. */
  @Test
  void patientWorkOutlastsTheLimitsOfItsConnections() {
    var hasty = new org.postgresql.ds.PGSimpleDataSource();
    hasty.setUrl(postgres.jdbcUrl());
    hasty.setUser(postgres.user());
    hasty.setPassword(postgres.password());
    hasty.setSocketTimeout(1);
    hasty.setOptions("-c statement_timeout=300 -c idle_in_transaction_session_timeout=300");
    var limited = Database.of(hasty);
    assertThatThrownBy(() -> limited.doInTransaction(c -> run(c, "SELECT pg_sleep(1.5)")))
        .isInstanceOf(KeeperException.Unavailable.class);
    limited
        .patient(java.time.Duration.ofMinutes(1))
        .doInTransaction(c -> run(c, "SELECT pg_sleep(1.5)"));
    assertThat(
            limited
                .patient(java.time.Duration.ofMinutes(1))
                .<String>withConnection(
                    c -> {
                      try (var statement = c.createStatement();
                          var rows =
                              statement.executeQuery("SHOW idle_in_transaction_session_timeout")) {
                        rows.next();
                        return rows.getString(1);
                      }
                    }))
        .isEqualTo("1min");
  }

  @Test
  void aRefusedStatementIsNotRepeatedAndNamesItsState() {
    assertThatThrownBy(
            () -> database.doInTransaction(connection -> run(connection, "SELECT 1 / 0")))
        .isInstanceOf(KeeperException.Rejected.class)
        .hasMessageContaining("22012");
  }

  @Test
  void aTerminatedConnectionIsUnavailableBeforeTheCommit() {
    assertThatThrownBy(
            () ->
                database.doInTransaction(
                    connection -> run(connection, "SELECT pg_terminate_backend(pg_backend_pid())")))
        .isInstanceOf(KeeperException.Unavailable.class);
  }

  @Test
  void eventsAreNumberedWithoutGapsInTheOrderOfTheirCommits() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var appended = new ArrayList<java.util.concurrent.Future<Long>>();
      for (int i = 0; i < 20; i++) {
        appended.add(
            threads.submit(
                () ->
                    database.inTransaction(
                        connection -> EventLog.append(connection, "numbers", "tick", "{}"))));
      }
      var ids = new ArrayList<Long>();
      for (var id : appended) {
        ids.add(id.get());
      }
      assertThat(ids)
          .containsExactlyInAnyOrderElementsOf(
              List.copyOf(java.util.stream.LongStream.rangeClosed(1, 20).boxed().toList()));
    }
  }

  @Test
  void anEventOfARolledBackTransactionLeavesNoGap() {
    database.inTransaction(c -> EventLog.append(c, "kept", "tick", "{}"));
    assertThatThrownBy(
            () ->
                database.doInTransaction(
                    c -> {
                      EventLog.append(c, "kept", "tick", "{}");
                      throw new IllegalStateException("stop");
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertThat(database.<Long>inTransaction(c -> EventLog.append(c, "kept", "tick", "{}")))
        .isEqualTo(2);
  }

  private static int addToBoth(int first, int second, CyclicBarrier meet, AtomicInteger runs) {
    return database.inTransaction(
        connection -> {
          boolean firstRun = runs.incrementAndGet() <= 2;
          run(connection, "UPDATE pair SET n = n + 1 WHERE id = " + first);
          if (firstRun) {
            await(meet);
          }
          run(connection, "UPDATE pair SET n = n + 1 WHERE id = " + second);
          return 0;
        });
  }

  private static void await(CyclicBarrier meet) {
    try {
      meet.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void execute(String sql) {
    database.doInTransaction(connection -> run(connection, sql));
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long number(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
          }
        });
  }
}
