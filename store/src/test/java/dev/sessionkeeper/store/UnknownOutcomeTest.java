package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Connections that are cut after the database has committed and before its answer arrives. */
@Tag("slow")
class UnknownOutcomeTest {
  private static EmbeddedPostgres postgres;
  private static FaultyNetwork network;
  private static Database direct;
  private static Database database;

  @BeforeAll
  static void start() throws Exception {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
    direct = Database.of(postgres.dataSource());
    int port = URI.create(postgres.jdbcUrl().substring("jdbc:".length())).getPort();
    network = FaultyNetwork.to(port);
    var source = new PGSimpleDataSource();
    source.setUrl(postgres.jdbcUrl().replace(":" + port + "/", ":" + network.port() + "/"));
    source.setUser(postgres.user());
    source.setPassword(postgres.password());
    database = Database.of(source);
    direct.doInTransaction(c -> run(c, "CREATE TABLE note (n int)"));
  }

  @AfterAll
  static void stop() throws Exception {
    network.close();
    postgres.close();
  }

  @Test
  void aTransactionWhoseCommitWasNotAnsweredHasAnUnknownOutcome() {
    network.cutAnswerTo("COMMIT");
    assertThatThrownBy(() -> database.doInTransaction(c -> run(c, "INSERT INTO note VALUES (1)")))
        .isInstanceOf(KeeperException.OutcomeUnknown.class);
    assertThat(count(1)).as("it took effect").isEqualTo(1);
  }

  @Test
  void aStatementThatCommitsByItselfAndWasNotAnsweredHasAnUnknownOutcome() {
    network.cutAnswerTo("INSERT INTO note VALUES (2)");
    assertThatThrownBy(() -> database.inStatement(c -> run(c, "INSERT INTO note VALUES (2)")))
        .isInstanceOf(KeeperException.OutcomeUnknown.class);
    assertThat(count(2)).as("it took effect").isEqualTo(1);
  }

  @Test
  void aTransactionThatWasCutBeforeItsCommitChangedNothing() {
    network.cutAnswerTo("INSERT INTO note VALUES (3)");
    assertThatThrownBy(() -> database.doInTransaction(c -> run(c, "INSERT INTO note VALUES (3)")))
        .isInstanceOf(KeeperException.Unavailable.class);
    assertThat(count(3)).isZero();
  }

  @Test
  void aCallThatCanBeRepeatedIsRepeatedUntilItsOutcomeIsKnown() {
    network.cutAnswerTo("INSERT INTO note SELECT 4");
    var tries = new AtomicInteger();
    int written =
        Database.untilKnown(
            3,
            () -> {
              tries.incrementAndGet();
              return database.inStatement(
                  c ->
                      run(
                          c,
                          "INSERT INTO note SELECT 4 WHERE NOT EXISTS (SELECT FROM note WHERE n = 4)"));
            });
    assertThat(tries).hasValue(2);
    assertThat(written).isZero();
    assertThat(count(4)).isEqualTo(1);
  }

  /** The repetition changed nothing, but the effect of the first attempt is unknown. */
  @Test
  void aRepetitionThatFindsNoDatabaseDoesNotHideTheUnknownOutcome() {
    network.cutAnswerTo("INSERT INTO note VALUES (5)");
    try {
      assertThatThrownBy(
              () ->
                  Database.untilKnown(
                      3,
                      () -> {
                        try {
                          return database.inStatement(c -> run(c, "INSERT INTO note VALUES (5)"));
                        } finally {
                          network.refuse(true);
                        }
                      }))
          .isInstanceOf(KeeperException.OutcomeUnknown.class);
    } finally {
      network.refuse(false);
    }
    assertThat(count(5)).isEqualTo(1);
  }

  private static int run(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      return statement.executeUpdate(sql);
    }
  }

  private static long count(int n) {
    return direct.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery("SELECT count(*) FROM note WHERE n = " + n)) {
            rows.next();
            return rows.getLong(1);
          }
        });
  }
}
