package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues over an application's pool whose isolation level is another than theirs. */
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IsolationLevelTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final String REPEATABLE_READ = "TRANSACTION_REPEATABLE_READ";
  private static final String WAITING =
      """
      SELECT count(*) FROM pg_stat_activity a JOIN keeper.queue k ON k.name = ?
       WHERE a.wait_event_type = 'Lock' AND a.query LIKE '%keeper.settle_lanes%'
      """;

  private static final AtomicInteger queues = new AtomicInteger();

  private QueueName queue;
  private TestDatabase database;

  @BeforeAll
  void startDatabase() {
    database = TestDatabase.start();
  }

  @BeforeEach
  void chooseQueue() {
    queue = QueueName.of("isolation-" + queues.incrementAndGet());
  }

  @AfterAll
  void stopDatabase() {
    database.close();
  }

  /**
   * A poll finds the next message while the session is released, and commits first. At another
   * level the release would not see the message, and would delete the row.
   */
  @ParameterizedTest
  @ValueSource(strings = {REPEATABLE_READ, "TRANSACTION_SERIALIZABLE"})
  void aMessageThatComesWhileItsSessionIsGivenBackIsFound(String level) throws Exception {
    var session = SessionId.of("s-" + level);
    try (var pool = pool(level);
        var provider = provider(pool);
        var round = database.pool().getConnection();
        var closing = Executors.newVirtualThreadPerTaskExecutor()) {
      provider.send(queue, List.of(message(session, 1)));
      var held = accept(provider, session);
      var first = held.receive(1, PATIENCE).get(0);
      held.settle(List.of(new Settled(first.sequence(), Settlement.complete())))
          .toCompletableFuture()
          .get();
      try (var other = PostgresQueueProvider.create(database.pool())) {
        other.send(queue, List.of(message(session, 2)));
      }
      round.setAutoCommit(false);
      discover(round);
      var closed = closing.submit(held::close);
      await().atMost(PATIENCE).until(() -> database.number(WAITING, queue) == 1);
      round.commit();
      closed.get();

      assertThat(bodies(provider, session)).containsExactly("2");
    }
  }

  private void discover(Connection connection) throws SQLException {
    try (var statement =
        connection.prepareStatement(
            """
            SELECT count(r.kind) FROM keeper.queue k
                   CROSS JOIN LATERAL keeper.claim_lanes(k.id, '{}', 'another process', 1, 0) r WHERE k.name = ?
            """)) {
      statement.setString(1, queue.value());
      statement.execute();
    }
  }

  @Test
  void theApplicationGetsItsConnectionsInItsOwnLevel() throws Exception {
    try (var pool = pool(REPEATABLE_READ);
        var provider = provider(pool)) {
      provider.send(queue, List.of(message(SessionId.of("own"), 1)));
      try (var connection = pool.getConnection()) {
        assertThat(connection.getTransactionIsolation())
            .isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
      }
    }
  }

  /** Otherwise each renewal of the lease would roll it back, and it would be tried for ever. */
  @Test
  void aHandlerThatRaisesTheLevelOfItsTransactionIsToldWhy() throws Exception {
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    Queue<Integer> levels = new ConcurrentLinkedQueue<>();
    try (var pool = pool(REPEATABLE_READ);
        var provider = provider(pool)) {
      var handler =
          provider.transactional(
              queue,
              (delivery, session, connection) -> {
                levels.add(connection.getTransactionIsolation());
                if (delivery.attempt() == 1) {
                  raise(connection);
                }
                return Settlement.complete();
              });
      provider.send(queue, List.of(message(SessionId.of("raises"), 1)));
      try (var processor =
          SessionProcessor.builder(provider, queue, handler)
              .onFailure(
                  (delivery, error) -> {
                    failures.add(error);
                    return Settlement.retryAfter(Duration.ZERO, "once");
                  })
              .build()
              .start()) {
        await().atMost(PATIENCE).until(() -> levels.size() == 2);
        await().atMost(PATIENCE).until(() -> provider.stats(queue).depth() == 0);
        assertThat(processor.state()).isNotNull();
      }
    }
    assertThat(levels).containsOnly(Connection.TRANSACTION_READ_COMMITTED);
    assertThat(failures)
        .singleElement()
        .isInstanceOf(KeeperException.Misconfigured.class)
        .asString()
        .contains("SERIALIZABLE")
        .contains("use READ COMMITTED");
  }

  private static void raise(Connection connection) throws SQLException {
    connection.rollback();
    connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    try (var statement = connection.createStatement()) {
      statement.execute("SELECT 1");
    }
  }

  @Test
  void anOutboxInAnotherLevelStoresWhatItCanTellApartAndRefusesTheRest() throws Exception {
    try (var pool = pool(REPEATABLE_READ);
        var provider = provider(pool)) {
      var session = SessionId.of("outbox");
      var known = message(session, 1);
      provider.send(queue, List.of(known));
      try (var connection = pool.getConnection()) {
        connection.setAutoCommit(false);
        assertThat(provider.send(connection, queue, List.of(message(session, 2))))
            .hasOnlyElementsOfType(SendOutcome.Stored.class);
        assertThat(
                provider.send(
                    connection,
                    queue,
                    List.of(message(session, 3).withId(MessageId.of("of my own")))))
            .hasOnlyElementsOfType(SendOutcome.Stored.class);
        connection.commit();
        assertThatThrownBy(() -> provider.send(connection, queue, List.of(known)))
            .isInstanceOf(KeeperException.Misconfigured.class)
            .hasMessageContaining("REPEATABLE READ")
            .hasMessageContaining("use READ COMMITTED");
        connection.rollback();
      }
      assertThat(bodies(provider, session)).containsExactly("1", "2", "3");
    }
  }

  private List<String> bodies(PostgresQueueProvider provider, SessionId session) throws Exception {
    try (var held = accept(provider, session)) {
      return held.receive(10, SOON).stream().map(IsolationLevelTest::body).toList();
    }
  }

  private HeldSession accept(PostgresQueueProvider provider, SessionId session) throws Exception {
    var accepted = provider.sessions(queue).accept(session, Owner.of("me"), SOON);
    assertThat(accepted).isInstanceOf(AcceptResult.Accepted.class);
    return ((AcceptResult.Accepted) accepted).session();
  }

  private static String body(Delivery delivery) {
    return delivery.payload().asText();
  }

  private static Message message(SessionId session, int number) {
    return Message.of(session, Payload.text(Integer.toString(number)));
  }

  private PostgresQueueProvider provider(HikariDataSource pool) {
    var provider = PostgresQueueProvider.create(pool);
    provider.declare(queue, QueueSettings.ordered());
    return provider;
  }

  private HikariDataSource pool(String level) {
    var config = new HikariConfig();
    config.setDataSource(database.unpooled());
    config.setMaximumPoolSize(12);
    config.setTransactionIsolation(level);
    return new HikariDataSource(config);
  }
}
