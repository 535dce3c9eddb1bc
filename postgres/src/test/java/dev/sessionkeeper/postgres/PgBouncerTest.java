package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.ProcessorEvent;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues behind a PgBouncer in transaction mode: a statement may meet any server connection. */
@Execution(ExecutionMode.SAME_THREAD)
class PgBouncerTest {
  private static final QueueName QUEUE = QueueName.of("pooled");
  private static final int SESSIONS = 40;

  private TestDatabase database;
  private PgBouncer bouncer;
  private HikariDataSource pool;

  @BeforeEach
  void start() throws Exception {
    var binary = PgBouncer.binary();
    assumeTrue(binary.isPresent(), "PgBouncer is not installed");
    database = TestDatabase.start();
    bouncer = PgBouncer.start(binary.get(), database, 3);
    var config = new HikariConfig();
    config.setJdbcUrl(bouncer.jdbcUrl(database.name()));
    config.setUsername(database.user());
    config.setMaximumPoolSize(12);
    config.setInitializationFailTimeout(Duration.ofSeconds(10).toMillis());
    pool = new HikariDataSource(config);
  }

  @AfterEach
  void stop() {
    if (database != null) {
      pool.close();
      bouncer.close();
      database.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void sessionsAreHandledInOrderWithoutAnError(int carryFrom) throws Exception {
    var handled = new ConcurrentLinkedQueue<String>();
    var problems = new ConcurrentLinkedQueue<String>();
    try (var notices = Notices.over(pool, database.unpooled());
        var provider =
            PostgresQueueProvider.create(
                pool,
                PostgresOptions.ofDefaults().withoutMigration().withCarryFrom(carryFrom),
                TimeSource.system(),
                notices)) {
      provider.declare(QUEUE, QueueSettings.ordered());
      for (int n = 0; n < 5; n++) {
        int number = n;
        provider.send(
            QUEUE,
            IntStream.range(0, SESSIONS)
                .mapToObj(i -> Message.of(SessionId.of("s" + i), Payload.text(i + "/" + number)))
                .toList());
      }
      var processor = processor(provider, handled, problems);
      await().atMost(Duration.ofSeconds(30)).until(() -> handled.size() >= SESSIONS * 5);
      processor.close();
      assertThat(provider.stats(QUEUE).depth()).isZero();
    }
    for (int i = 0; i < SESSIONS; i++) {
      var session = i + "/";
      assertThat(handled.stream().filter(body -> body.startsWith(session)))
          .containsExactly(i + "/0", i + "/1", i + "/2", i + "/3", i + "/4");
    }
    assertThat(problems).isEmpty();
  }

  /** Retries in the middle, so that sessions are fetched from, settled and claimed again. */
  private static SessionProcessor processor(
      PostgresQueueProvider provider, Queue<String> handled, Queue<String> problems) {
    return SessionProcessor.builder(
            provider,
            QUEUE,
            (delivery, session) -> {
              var body = delivery.payload().asText();
              if (body.endsWith("/2") && delivery.attempt() == 1) {
                return Settlement.retryAfter(Duration.ZERO, "once more");
              }
              handled.add(body);
              return Settlement.complete();
            })
        .maxConcurrentSessions(16)
        .listener(
            event -> {
              if (event instanceof ProcessorEvent.Failed failed) {
                problems.add(failed.toString());
              }
            })
        .build()
        .start();
  }
}
