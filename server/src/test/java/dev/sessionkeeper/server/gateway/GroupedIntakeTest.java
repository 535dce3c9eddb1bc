package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.OrderingScope;
import dev.sessionkeeper.github.Subscription;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.testkit.StepByStep;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Concurrent deliveries share a transaction; an error in one does not affect the others. */
class GroupedIntakeTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Bot UNDECLARED =
      Bot.of("nobody-declared-its-queue", Subscription.to(List.of("*")), OrderingScope.ENTITY);

  private static DataSource source;
  private static PostgresQueueProvider queues;

  private final AtomicInteger commits = new AtomicInteger();
  private final AtomicInteger statements = new AtomicInteger();
  private final AcceptDelivery accept =
      new AcceptDelivery(
          Database.of(
              StepByStep.of(
                  source,
                  (step, connection, work) -> {
                    (step.equals("COMMIT") ? commits : statements).incrementAndGet();
                    return work.run();
                  })),
          new StoreOutbox(queues),
          1);

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
  void deliveriesThatArriveMeanwhileLeaveTogetherInTheOrderOfTheirArrival() throws Exception {
    var ids = new ArrayList<String>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var answers = new ArrayList<Future<AcceptDelivery.Outcome>>();
      gathering(
          threads,
          () -> {
            for (int i = 0; i < 40; i++) {
              var event = event();
              ids.add(event.id().toString());
              answers.add(send(threads, event, Intake.BOTS));
            }
          });
      for (var answer : answers) {
        assertThat(answer.get()).isInstanceOf(AcceptDelivery.Outcome.Accepted.class);
        assertThat(answer.get().routes()).hasSize(3);
      }
    }
    assertThat(commits).hasValue(2);
    // The locks with all rows, and a send to each of three queues.
    assertThat(statements).hasValue(2 * 4);
    assertThat(
            texts(
                "SELECT id::text FROM keeper.github_event WHERE id::text = ANY ('{"
                    + String.join(",", ids)
                    + "}') ORDER BY seq"))
        .isEqualTo(ids);
  }

  @Test
  void theSameDeliveryTwiceInOneGroupIsStoredOnce() throws Exception {
    var event = event();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var answers = new ArrayList<Future<AcceptDelivery.Outcome>>();
      gathering(
          threads,
          () -> {
            for (int i = 0; i < 3; i++) {
              answers.add(send(threads, event, Intake.BOTS));
            }
          });
      assertThat(answers.get(0).get()).isInstanceOf(AcceptDelivery.Outcome.Accepted.class);
      assertThat(answers.get(1).get()).isInstanceOf(AcceptDelivery.Outcome.Duplicate.class);
      assertThat(answers.get(2).get().routes()).isEqualTo(answers.get(0).get().routes());
    }
    assertThat(
            texts(
                "SELECT count(*)::text FROM keeper.waiting_message WHERE properties LIKE '%"
                    + event.id()
                    + "%'"))
        .containsExactly("2");
  }

  @Test
  void oneThatCannotBeStoredFailsAlone() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var good = new ArrayList<Future<AcceptDelivery.Outcome>>();
      var bad = new ArrayList<Future<AcceptDelivery.Outcome>>();
      gathering(
          threads,
          () -> {
            good.add(send(threads, event(), Intake.BOTS));
            bad.add(send(threads, event(), List.of(UNDECLARED)));
            good.add(send(threads, event(), Intake.BOTS));
          });
      for (var answer : good) {
        assertThat(answer.get()).isInstanceOf(AcceptDelivery.Outcome.Accepted.class);
      }
      assertThatThrownBy(bad.getFirst()::get)
          .hasCauseInstanceOf(KeeperException.UnknownQueue.class);
    }
  }

  /** Sends while a first delivery waits for the lock of its session. */
  private void gathering(ExecutorService threads, Sends sends) throws Exception {
    Future<AcceptDelivery.Outcome> first;
    try (var connection = source.getConnection()) {
      connection.setAutoCommit(false);
      EventTable.lock(
          connection, StoreDeliveries.sessionsToLock(event(), Intake.BOTS), AcceptDelivery.ALONE);
      first = send(threads, event(), Intake.BOTS);
      await().atMost(PATIENCE).until(() -> statements.get() == 1);
      sends.send();
      connection.rollback();
    }
    assertThat(first.get()).isInstanceOf(AcceptDelivery.Outcome.Accepted.class);
  }

  private interface Sends {
    void send() throws Exception;
  }

  /** Returns when the delivery waits for its transaction. */
  private Future<AcceptDelivery.Outcome> send(
      ExecutorService threads, GitHubEvent event, List<Bot> bots) {
    int before = accept.waiting();
    var answer = threads.submit(() -> accept.accept(Intake.delivery(event), bots));
    if (statements.get() > 0) {
      await()
          .pollInterval(Duration.ofMillis(1))
          .atMost(PATIENCE)
          .until(() -> accept.waiting() == before + 1);
    }
    return answer;
  }

  private static GitHubEvent event() {
    return Intake.event(UUID.randomUUID().toString(), 1);
  }

  private static List<String> texts(String sql) throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      var all = new ArrayList<String>();
      while (rows.next()) {
        all.add(rows.getString(1));
      }
      return all;
    }
  }
}
