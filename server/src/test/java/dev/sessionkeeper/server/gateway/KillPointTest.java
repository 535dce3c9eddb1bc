package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.testkit.StepByStep;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

/** Cuts the connection of an intake before every statement, and before and after COMMIT. */
class KillPointTest {
  private static DataSource source;
  private static PostgresQueueProvider queues;

  @BeforeAll
  static void open() {
    source = TestDatabase.create().source();
    Migrations.apply(source, "store");
    Migrations.apply(source, "gateway");
    queues = PostgresQueueProvider.create(source);
    Intake.BOTS.forEach(bot -> queues.declare(bot.queue(), bot.queueSettings()));
  }

  @AfterAll
  static void close() {
    queues.close();
  }

  @Test
  void whereverTheConnectionIsCutEverythingIsThereOnceOrNothing() throws Exception {
    int steps = stepsOfAnIntake().size();
    assertThat(steps).isGreaterThan(3);
    for (int at = 1; at < steps; at++) {
      var event = event();
      var cut = StepByStep.of(source, cuttingBefore(at));
      var failure = catchThrowable(() -> accept(event, cut));
      assertThat(failure).as("cut before step %s", at).isInstanceOf(KeeperException.class);
      assertStored(event, 0);
      assertDeliveredAgain(event, AcceptDelivery.Outcome.Accepted.class);
    }
  }

  @Test
  void aCommitWhoseAnswerIsMissingIsLookedUpAndDoneIfItWasNot() throws Exception {
    int commit = stepsOfAnIntake().size();
    for (var between : new StepByStep.Between[] {cuttingBefore(commit), losingAnswerOf(commit)}) {
      var event = event();
      assertThat(accept(event, StepByStep.of(source, between)))
          .isInstanceOf(AcceptDelivery.Outcome.Accepted.class);
      assertStored(event, 1);
      assertDeliveredAgain(event, AcceptDelivery.Outcome.Duplicate.class);
    }
  }

  /** A server that freezes in between keeps the lock, and other servers wait. */
  @Test
  void onlyTheMessagesAndTheCommitFollowTheLockOfASession() throws Exception {
    var steps = stepsOfAnIntake();
    assertThat(steps.getFirst()).contains("pg_advisory_xact_lock");
    assertThat(steps.getLast()).isEqualTo("COMMIT");
    assertThat(steps.subList(1, steps.size() - 1))
        .hasSize(Intake.BOTS.size())
        .allMatch(step -> step.contains("keeper.send"));
  }

  /** Checks that GitHub's redelivery, by itself or on a person's request, stores the event once. */
  private static void assertDeliveredAgain(
      GitHubEvent event, Class<? extends AcceptDelivery.Outcome> expected) throws Exception {
    var outcome = accept(event, source);
    assertThat(outcome).isInstanceOf(expected);
    assertThat(outcome.routes())
        .extracting(RoutedMessage::bot)
        .containsExactlyInAnyOrder("entity", "repository", "plain");
    assertStored(event, 1);
  }

  private static List<String> stepsOfAnIntake() throws Exception {
    var steps = new ArrayList<String>();
    StepByStep.Between noting =
        (step, connection, work) -> {
          steps.add(step);
          return work.run();
        };
    accept(event(), StepByStep.of(source, noting));
    return steps;
  }

  /** Returns a step that is really sent, over a connection that the database has really closed. */
  private static StepByStep.Between cuttingBefore(int number) {
    var count = new AtomicInteger();
    return (step, connection, work) -> {
      if (count.incrementAndGet() == number) {
        cut(connection);
      }
      return work.run();
    };
  }

  private static void cut(Connection connection) throws SQLException {
    int pid = connection.unwrap(PGConnection.class).getBackendPID();
    count("SELECT count(pg_terminate_backend(" + pid + "))");
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> count("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
  }

  private static StepByStep.Between losingAnswerOf(int number) {
    var count = new AtomicInteger();
    return (step, connection, work) -> {
      var answer = work.run();
      if (count.incrementAndGet() == number) {
        throw new SQLException("The connection is gone", "08006");
      }
      return answer;
    };
  }

  private static void assertStored(GitHubEvent event, int times) throws SQLException {
    var id = event.id().toString();
    assertThat(count("SELECT count(*) FROM keeper.github_event WHERE id = '" + id + "'"))
        .isEqualTo(times);
    assertThat(count("SELECT count(*) FROM keeper.shared_body WHERE id = '" + id + "'"))
        .isEqualTo(times);
    assertThat(
            count(
                "SELECT count(*) FROM keeper.waiting_message WHERE properties LIKE '%" + id + "%'"))
        .isEqualTo(2L * times);
    assertThat(
            count("SELECT count(*) FROM keeper.loose_message WHERE properties LIKE '%" + id + "%'"))
        .isEqualTo(times);
    assertThat(count("SELECT count(*) FROM keeper.stream_outbox WHERE data LIKE '%" + id + "%'"))
        .isEqualTo(times);
  }

  private static long count(String sql) throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static GitHubEvent event() {
    return Intake.event(UUID.randomUUID().toString(), 1);
  }

  private static AcceptDelivery.Outcome accept(GitHubEvent event, DataSource over)
      throws InterruptedException {
    return new AcceptDelivery(Database.of(over), new StoreOutbox(queues), 1)
        .accept(Intake.delivery(event), Intake.BOTS);
  }
}
