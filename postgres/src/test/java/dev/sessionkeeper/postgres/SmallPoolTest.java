package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** More transactional handlers than connections, each longer than a lease. */
@Execution(ExecutionMode.SAME_THREAD)
class SmallPoolTest {
  private static final QueueName QUEUE = QueueName.of("small");
  private static final int SESSIONS = 8;

  private TestDatabase database;
  private HikariDataSource pool;

  @BeforeEach
  void start() {
    database = TestDatabase.start();
    var config = new HikariConfig();
    config.setDataSource(database.unpooled());
    config.setMaximumPoolSize(4);
    pool = new HikariDataSource(config);
  }

  @AfterEach
  void stop() {
    pool.close();
    database.close();
  }

  @TestInRealTime
  void leasesAreRenewedWhileHandlersWaitForConnections() {
    var handled = new AtomicInteger();
    Queue<ProcessorEvent> lost = new ConcurrentLinkedQueue<>();
    try (var provider = PostgresQueueProvider.create(pool)) {
      provider.declare(
          QUEUE,
          QueueSettings.ordered().withLockDuration(Duration.ofSeconds(2)).withMaxDeliveryCount(1));
      provider.send(
          QUEUE,
          IntStream.range(0, SESSIONS)
              .mapToObj(i -> Message.of(SessionId.of("s" + i), Payload.text("x")))
              .toList());
      try (var processor =
          SessionProcessor.builder(
                  provider,
                  QUEUE,
                  provider.transactional(
                      QUEUE,
                      (delivery, session, connection) -> {
                        try (var statement = connection.createStatement()) {
                          statement.execute("SELECT pg_sleep(3)");
                        }
                        handled.incrementAndGet();
                        return Settlement.complete();
                      }))
              .maxConcurrentSessions(SESSIONS)
              .listener(
                  event -> {
                    if (event instanceof ProcessorEvent.LeaseLost) {
                      lost.add(event);
                    }
                  })
              .build()
              .start()) {
        await()
            .atMost(Duration.ofSeconds(40))
            .until(() -> handled.get() + provider.stats(QUEUE).deadLetters() >= SESSIONS);
      }
      assertThat(lost).isEmpty();
      assertThat(provider.stats(QUEUE).deadLetters()).isZero();
      assertThat(handled).hasValue(SESSIONS);
    }
  }
}
