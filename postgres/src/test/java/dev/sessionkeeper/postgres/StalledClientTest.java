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
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.OperableSessions;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A consumer freezes while the database sends it payloads. Its leases expire, and another process
 * handles everything, because no lock is held during the transfer.
 */
@Execution(ExecutionMode.SAME_THREAD)
class StalledClientTest {
  private static final QueueName QUEUE = QueueName.of("stalled");
  private static final Duration LOCK = Duration.ofSeconds(2);
  private static final int SESSIONS = 24;
  private static final int EACH = 32;
  private static final int BODY = 10_000;

  private final Set<String> handled = ConcurrentHashMap.newKeySet();
  private TestDatabase database;
  private StallingProxy proxy;
  private HikariDataSource pool;

  @BeforeEach
  void start() throws Exception {
    database = TestDatabase.start();
    var url = URI.create(database.url().substring("jdbc:".length()));
    proxy = StallingProxy.to(url.getPort(), 8_000);
    var config = new HikariConfig();
    config.setJdbcUrl("jdbc:postgresql://127.0.0.1:" + proxy.port() + url.getPath());
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setMaximumPoolSize(8);
    config.setConnectionTimeout(1000);
    pool = new HikariDataSource(config);
  }

  @AfterEach
  void stop() throws Exception {
    proxy.close();
    pool.close();
    database.close();
  }

  @Test
  void anotherProcessGoesOn() throws Exception {
    anotherProcessGoesOnBeside(PostgresOptions.NEVER);
  }

  /** A reader that freezes holds no lock, so the other process handles all messages. */
  @Test
  void anotherProcessGoesOnBesideAReader() throws Exception {
    anotherProcessGoesOnBeside(0);
  }

  private void anotherProcessGoesOnBeside(int carryFrom) throws Exception {
    var options = PostgresOptions.ofDefaults().withCarryFrom(carryFrom);
    var stalling = PostgresQueueProvider.create(pool, options);
    try (var other = PostgresQueueProvider.create(database.pool(), options)) {
      other.declare(QUEUE, QueueSettings.ordered().withLockDuration(LOCK));
      // One session has a row, so a process that reads alone locks something, too.
      other.act(QUEUE, SessionId.of("s0"), OperableSessions.Act.PAUSE, "for now");
      var stopped = processor(stalling);
      proxy.arm();
      send(other);
      proxy.awaitStall();
      int before = handled.size();
      try (var going = processor(other)) {
        other.act(QUEUE, SessionId.of("s0"), OperableSessions.Act.RESUME, "go on");
        await()
            .atMost(LOCK.multipliedBy(2).plusSeconds(4))
            .until(() -> handled.size() == SESSIONS * EACH);
      }
      assertThat(before).as("handled before it stood still").isLessThan(SESSIONS * EACH);
      proxy.close();
      stopped.close();
    } finally {
      proxy.close();
      stalling.close();
    }
  }

  private SessionProcessor processor(PostgresQueueProvider provider) {
    return SessionProcessor.builder(
            provider,
            QUEUE,
            (delivery, session) -> {
              handled.add(delivery.message().id().value());
              return Settlement.complete();
            })
        .maxConcurrentSessions(16)
        .drainTimeout(Duration.ofSeconds(2))
        .build()
        .start();
  }

  private static void send(PostgresQueueProvider provider) {
    var body = Payload.text("x".repeat(BODY));
    provider.send(
        QUEUE,
        IntStream.range(0, SESSIONS * EACH)
            .mapToObj(i -> Message.of(SessionId.of("s" + i % SESSIONS), body))
            .toList());
  }
}
