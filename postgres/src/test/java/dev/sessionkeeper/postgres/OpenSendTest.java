package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A message id is in an application's open transaction, and is sent again meanwhile. */
@Execution(ExecutionMode.SAME_THREAD)
class OpenSendTest {
  private static final QueueName QUEUE = QueueName.of("open");
  private static final MessageId TWICE = MessageId.of("twice");
  private static final String WAITING =
      """
      SELECT count(*) FROM pg_locks l, keeper.queue k
       WHERE l.locktype = 'transactionid' AND NOT l.granted AND k.name = ?
      """;

  private TestDatabase database;
  private PostgresQueueProvider provider;

  @BeforeEach
  void start() {
    database = TestDatabase.start();
    provider = PostgresQueueProvider.create(database.pool());
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  @AfterEach
  void stop() {
    provider.close();
    database.close();
  }

  @Test
  void onlyTheSendOfThatIdWaits() throws Exception {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor();
        var application = database.unpooled().getConnection()) {
      application.setAutoCommit(false);
      provider.send(application, QUEUE, List.of(message(TWICE)));
      var again =
          CompletableFuture.supplyAsync(
              () -> provider.send(QUEUE, List.of(message(TWICE))), executor);
      await().atMost(Duration.ofSeconds(5)).until(() -> database.number(WAITING, QUEUE) == 1);

      var others =
          IntStream.range(0, 50)
              .mapToObj(
                  i ->
                      CompletableFuture.runAsync(
                          () -> provider.send(QUEUE, List.of(message(MessageId.of("other-" + i)))),
                          executor))
              .toArray(CompletableFuture<?>[]::new);
      await().atMost(Duration.ofSeconds(1)).until(() -> CompletableFuture.allOf(others).isDone());
      assertThat(again).isNotDone();
      assertThat(provider.stats(QUEUE).depth()).isEqualTo(50);

      application.commit();
      assertThat(again.get().get(0)).isInstanceOf(SendOutcome.Duplicate.class);
      assertThat(provider.stats(QUEUE).depth()).isEqualTo(51);
    }
  }

  @Test
  void whatWaitedIsStoredWhenTheApplicationRollsBack() throws SQLException {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor();
        var application = database.unpooled().getConnection()) {
      application.setAutoCommit(false);
      provider.send(application, QUEUE, List.of(message(TWICE)));
      var again =
          CompletableFuture.supplyAsync(
              () -> provider.send(QUEUE, List.of(message(TWICE))), executor);
      await().atMost(Duration.ofSeconds(5)).until(() -> database.number(WAITING, QUEUE) == 1);
      provider.send(QUEUE, List.of(message(MessageId.of("other"))));

      application.rollback();
      assertThat(again.join().get(0)).isInstanceOf(SendOutcome.Stored.class);
      assertThat(provider.stats(QUEUE).depth()).isEqualTo(2);
    }
  }

  private static Message message(MessageId id) {
    return Message.of(SessionId.of("a"), Payload.text("x")).withId(id);
  }
}
