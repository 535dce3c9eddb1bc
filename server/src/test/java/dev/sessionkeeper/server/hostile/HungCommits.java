package dev.sessionkeeper.server.hostile;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Another application on the server's database whose commits hang: transactional handlers, and
 * sends in a transaction of its own whose message ids clients send at the same time.
 */
final class HungCommits implements AutoCloseable {
  private static final QueueName HUNG = QueueName.of("hung");
  private static final QueueName NORMAL = QueueName.of("normal");
  private static final Duration HANGS = Duration.ofSeconds(8);

  private final Wire wire;
  private final AtomicBoolean on = new AtomicBoolean(true);
  private final AtomicLong handlers = new AtomicLong();
  private final AtomicLong sends = new AtomicLong();
  private final HikariDataSource pool;
  private final PostgresQueueProvider provider;
  private final SessionProcessor processor;

  HungCommits(EmbeddedPostgres postgres, Wire wire) {
    this.wire = wire;
    var config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(8);
    pool = new HikariDataSource(config);
    provider = PostgresQueueProvider.create(pool, PostgresOptions.ofDefaults());
    provider.declare(HUNG, QueueSettings.ordered());
    processor =
        SessionProcessor.builder(
                provider,
                HUNG,
                provider.transactional(
                    HUNG,
                    (delivery, session, connection) -> {
                      hang();
                      handlers.incrementAndGet();
                      return Settlement.complete();
                    }))
            .maxConcurrentSessions(3)
            .build()
            .start();
  }

  /** Returns how often each kind of interference happened. */
  Map<String, Long> attacks() {
    return Map.of(
        "transactional handlers that hang", handlers.get(),
        "sends in a transaction that hangs", sends.get());
  }

  List<Runnable> loops() {
    return List.of(this::feedHandlers, this::sendAndHang);
  }

  void stop() {
    on.set(false);
  }

  private void feedHandlers() {
    for (int i = 0; on.get(); i++) {
      provider.send(HUNG, List.of(Message.of(SessionId.of("h" + i % 5), Payload.text("x"))));
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
  }

  private void sendAndHang() {
    for (int i = 0; on.get(); i++) {
      var id = "hung-" + i;
      try (var connection = pool.getConnection()) {
        connection.setAutoCommit(false);
        var message = Message.of(SessionId.of("hung"), Payload.text("x")).withId(MessageId.of(id));
        provider.send(connection, NORMAL, List.of(message));
        Thread.ofVirtual().start(() -> sendToo(id));
        hang();
        connection.rollback();
        sends.incrementAndGet();
      } catch (SQLException e) {
        // The database ended the transaction, which is allowed.
        LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
      }
    }
  }

  private void sendToo(String id) {
    try {
      wire.call(
          "POST",
          NormalLoad.QUEUE + "/messages",
          "{\"messages\":[{\"messageId\":\"%s\",\"sessionId\":\"hung\",\"body\":1}]}"
              .formatted(id));
    } catch (IOException e) {
      // The client gave up waiting.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void hang() {
    long end = System.nanoTime() + HANGS.toNanos();
    while (on.get() && System.nanoTime() < end) {
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
  }

  @Override
  public void close() {
    stop();
    processor.close();
    provider.close();
    pool.close();
  }
}
