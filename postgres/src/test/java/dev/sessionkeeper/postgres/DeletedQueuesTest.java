package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.RemovableQueues.Part;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One process deletes or purges queues that another one uses. */
class DeletedQueuesTest {
  private static final QueueName QUEUE = QueueName.of("orders");
  private static final Message MESSAGE = Message.of(SessionId.of("a"), Payload.text("1"));

  private TestDatabase database;
  private PostgresQueueProvider here;
  private PostgresQueueProvider elsewhere;

  @BeforeEach
  void openTwo() {
    database = TestDatabase.start();
    here = PostgresQueueProvider.create(database.pool(), PostgresOptions.ofDefaults());
    elsewhere = PostgresQueueProvider.create(database.pool(), PostgresOptions.ofDefaults());
    here.declare(QUEUE, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    here.close();
    elsewhere.close();
    database.close();
  }

  @Test
  void aSenderThatKnowsADeletedQueueIsToldSo() {
    elsewhere.send(QUEUE, List.of(MESSAGE));
    here.delete(QUEUE);

    assertThatThrownBy(() -> elsewhere.send(QUEUE, List.of(message("2"))))
        .isInstanceOf(KeeperException.UnknownQueue.class);
  }

  @Test
  void aSenderThatKnowsADeletedQueueUsesItsSuccessor() throws Exception {
    elsewhere.send(QUEUE, List.of(MESSAGE));
    here.delete(QUEUE);
    here.declare(QUEUE, QueueSettings.ordered());

    elsewhere.send(QUEUE, List.of(message("2")));

    var accepted =
        (AcceptResult.Accepted)
            here.sessions(QUEUE).acceptNext(Owner.of("o"), Duration.ofSeconds(10));
    assertThat(accepted.session().receive(10, Duration.ofSeconds(5)))
        .extracting(delivery -> delivery.payload().asText())
        .containsExactly("2");
  }

  @Test
  void aConsumerElsewhereStopsWaitingForADeletedQueue() throws Exception {
    var sessions = elsewhere.sessions(QUEUE);
    assertThat(sessions.acceptNext(Owner.of("o"), Duration.ofMillis(100)))
        .isInstanceOf(AcceptResult.NoSession.class);
    here.delete(QUEUE);

    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> sessions.acceptNext(Owner.of("o"), Duration.ZERO))
                    .isInstanceOf(KeeperException.Closed.class));
    assertThatThrownBy(() -> elsewhere.sessions(QUEUE))
        .isInstanceOf(KeeperException.UnknownQueue.class);
  }

  @Test
  void nothingOfADeletedQueueIsLeftInAnyTable() throws Exception {
    here.send(QUEUE, List.of(MESSAGE, Message.of(SessionId.of("b"), Payload.text("2"))));
    here.sessions(QUEUE).acceptNext(Owner.of("o"), Duration.ofSeconds(10));
    here.delete(QUEUE);

    assertThat(rowsWithQueues()).isZero();
  }

  @Test
  void aPurgeReachesWhatAnotherProcessReadsAlone() throws Exception {
    try (var reader =
        PostgresQueueProvider.create(
            database.pool(), PostgresOptions.ofDefaults().withCarryFrom(1))) {
      for (int i = 0; i < 50; i++) {
        here.send(QUEUE, List.of(Message.of(SessionId.of("s" + i), Payload.text("x"))));
      }
      var held =
          (AcceptResult.Accepted)
              reader.sessions(QUEUE).acceptNext(Owner.of("o"), Duration.ofSeconds(10));
      assertThat(held.session().receive(1, Duration.ofSeconds(5))).hasSize(1);

      assertThat(here.purge(QUEUE, Part.MESSAGES)).isEqualTo(50);

      assertThat(here.stats(QUEUE).depth()).isZero();
      assertThat(reader.sessions(QUEUE).acceptNext(Owner.of("o"), Duration.ofMillis(500)))
          .isInstanceOf(AcceptResult.NoSession.class);
    }
  }

  private static Message message(String body) {
    return Message.of(SessionId.of("a"), Payload.text(body));
  }

  /** Counts the rows of all tables that refer to a queue. */
  private long rowsWithQueues() throws SQLException {
    try (var connection = database.pool().getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                """
                SELECT sum((xpath('/row/n/text()', query_to_xml(
                         format('SELECT count(*) AS n FROM keeper.%I', table_name), false, true, '')))[1]::text::bigint)
                  FROM information_schema.columns
                 WHERE table_schema = 'keeper' AND column_name = 'queue' AND data_type = 'integer'
                """)) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
