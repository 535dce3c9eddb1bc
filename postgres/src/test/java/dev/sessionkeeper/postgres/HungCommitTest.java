package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.ProcessorEvent;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.OperableSessions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The commit of a transactional handler hangs and keeps the row of its session locked. Only that
 * session waits.
 */
@Execution(ExecutionMode.SAME_THREAD)
class HungCommitTest {
  private static final QueueName QUEUE = QueueName.of("hung");
  private static final SessionId HUNG = SessionId.of("hung");
  private static final int OTHERS = 50;
  private static final Duration SOON = Duration.ofSeconds(2);
  private static final Duration LATER = Duration.ofSeconds(20);

  private final ConcurrentLinkedQueue<String> handled = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<SessionId> lost = new ConcurrentLinkedQueue<>();
  private TestDatabase database;
  private Connection gate;

  @BeforeEach
  void start() throws SQLException {
    database = TestDatabase.start();
    gate = database.unpooled().getConnection();
    try (var statement = gate.createStatement()) {
      statement.execute(
          """
          CREATE TABLE effect (body text);
          CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END';
          CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
          SELECT pg_advisory_lock(4711);
          """);
    }
  }

  @AfterEach
  void stop() throws SQLException {
    gate.close();
    database.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void itDelaysItsOwnSessionOnly(int carryFrom) throws Exception {
    try (var provider = provider(carryFrom, Duration.ofSeconds(30));
        var processor = processor(provider);
        AutoCloseable first = this::openGate) {
      hang(provider);
      // New messages of the session that hangs come by the same rounds as all others.
      send(provider, HUNG, "hung 2");
      for (int i = 0; i < OTHERS; i++) {
        send(provider, SessionId.of("other-" + i), "other");
        send(provider, HUNG, "hung " + (i + 3));
      }
      await().atMost(SOON).until(() -> count("other") == OTHERS);
      assertThat(count("hung")).isEqualTo(1);

      openGate();
      await().atMost(LATER).until(() -> count("hung") == OTHERS + 2);
      assertThat(handled.stream().filter(body -> body.startsWith("hung")))
          .containsExactlyElementsOf(
              IntStream.rangeClosed(1, OTHERS + 2).mapToObj(n -> "hung " + n).toList());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void otherLeasesAreRenewedMeanwhile(int carryFrom) throws Exception {
    try (var provider = provider(carryFrom, Duration.ofSeconds(3));
        var processor = processor(provider);
        AutoCloseable first = this::openGate) {
      hang(provider);
      send(provider, SessionId.of("long"), "waits");
      await().atMost(LATER).until(() -> count("began waits") == 1);
      await().atMost(LATER).until(() -> lost.contains(HUNG));
      openGate();
      await().atMost(LATER).until(() -> count("waits") == 1);
      assertThat(lost).doesNotContain(SessionId.of("long"));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void anOperatorWhoActsOnItKeepsNoOtherSessionWaiting(int carryFrom) throws Exception {
    try (var provider = provider(carryFrom, Duration.ofSeconds(30));
        var processor = processor(provider);
        AutoCloseable first = this::openGate) {
      hang(provider);
      var act =
          CompletableFuture.supplyAsync(
              () -> provider.act(QUEUE, HUNG, OperableSessions.Act.PAUSE, "look"));
      await().atMost(LATER).until(() -> processor.state() != null && isActing(act));
      for (int i = 0; i < OTHERS; i++) {
        send(provider, SessionId.of("other-" + i), "other");
      }
      await().atMost(SOON).until(() -> count("other") == OTHERS);
      openGate();
      assertThat(act.join()).isEqualTo(1);
    }
  }

  /**
   * Returns whether the act is in progress: it has not returned, and a reader, if any, was asked.
   */
  private boolean isActing(CompletableFuture<Integer> act) {
    return !act.isDone()
        && (database.count("reader", QUEUE) == 0 || database.count("ask", QUEUE) > 0);
  }

  private PostgresQueueProvider provider(int carryFrom, Duration lock) {
    var provider =
        PostgresQueueProvider.create(
            database.pool(), PostgresOptions.ofDefaults().withCarryFrom(carryFrom));
    provider.declare(QUEUE, QueueSettings.ordered().withLockDuration(lock));
    return provider;
  }

  private SessionProcessor processor(PostgresQueueProvider provider) {
    return SessionProcessor.builder(
            provider,
            QUEUE,
            provider.transactional(
                QUEUE,
                (delivery, session, connection) -> {
                  var body = delivery.payload().asText();
                  if (body.equals("hung 1")) {
                    try (var statement = connection.createStatement()) {
                      statement.execute("INSERT INTO effect VALUES ('hung')");
                    }
                  }
                  if (body.equals("waits")) {
                    handled.add("began waits");
                    await().atMost(LATER).until(() -> lost.contains(HUNG));
                  }
                  handled.add(body);
                  return Settlement.complete();
                }))
        .maxConcurrentSessions(8)
        .listener(
            event -> {
              if (event instanceof ProcessorEvent.LeaseLost one) {
                lost.add(one.session());
              }
            })
        .build()
        .start();
  }

  /** Handles the first message of a session; the commit waits at the gate. */
  private void hang(PostgresQueueProvider provider) {
    send(provider, HUNG, "hung 1");
    await().atMost(LATER).until(() -> waiting() == 1);
  }

  private long waiting() throws SQLException {
    try (var statement = gate.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private void openGate() throws SQLException {
    try (var statement = gate.createStatement()) {
      statement.execute("SELECT pg_advisory_unlock(4711)");
    }
  }

  private static void send(PostgresQueueProvider provider, SessionId session, String body) {
    provider.send(QUEUE, List.of(Message.of(session, Payload.text(body))));
  }

  private long count(String prefix) {
    return handled.stream().filter(body -> body.startsWith(prefix)).count();
  }
}
