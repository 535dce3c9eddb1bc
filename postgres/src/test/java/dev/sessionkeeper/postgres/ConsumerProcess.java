package dev.sessionkeeper.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionProcessor;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A process whose handler writes a row in the transaction of its settlement. It fails at times,
 * {@link KillRun} kills it at any moment, and it ends with its input.
 */
final class ConsumerProcess {
  static final QueueName QUEUE = QueueName.of("kill");

  /** The value of {@code carryFrom} in {@link PostgresOptions}. */
  static final String CARRY_FROM = "CARRY_FROM";

  private ConsumerProcess() {}

  public static void main(String[] args) throws IOException {
    var config = new HikariConfig();
    config.setJdbcUrl(args[0]);
    config.setUsername(args[1]);
    config.setPassword(args[2]);
    config.setMaximumPoolSize(12);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(5000);
    config.setInitializationFailTimeout(-1);
    var pool = new HikariDataSource(config);
    while (true) {
      try {
        consume(pool);
        return;
      } catch (KeeperException e) {
        // The database is down as it may be at any moment: try again.
        LockSupport.parkNanos(200_000_000);
      }
    }
  }

  private static void consume(HikariDataSource pool) throws IOException {
    var options =
        PostgresOptions.ofDefaults()
            .withoutMigration()
            .withCarryFrom(Integer.parseInt(System.getenv().getOrDefault(CARRY_FROM, "32")));
    try (var provider = PostgresQueueProvider.create(pool, options);
        var processor =
            SessionProcessor.builder(
                    provider, QUEUE, provider.transactional(QUEUE, ConsumerProcess::handle))
                .maxConcurrentSessions(6)
                .onFailure((delivery, error) -> Settlement.keepRetrying(retryDelay(), "failed"))
                .build()
                .start()) {
      System.out.println("ready " + processor.state());
      while (System.in.read() >= 0) {
        // The parent lives.
      }
    }
  }

  private static java.time.Duration retryDelay() {
    return java.time.Duration.ofMillis(ThreadLocalRandom.current().nextInt(1, 60));
  }

  private static Settlement handle(Delivery delivery, SessionContext session, Connection connection)
      throws SQLException {
    try (var insert =
        connection.prepareStatement(
            "INSERT INTO effect (session, number, epoch, attempt) VALUES (?, ?, ?, ?)")) {
      insert.setString(1, session.id().value());
      insert.setInt(2, Integer.parseInt(delivery.payload().asText()));
      insert.setLong(3, session.epoch());
      insert.setInt(4, delivery.attempt());
      insert.executeUpdate();
    }
    if (ThreadLocalRandom.current().nextInt(100) == 0) {
      throw new IllegalStateException("now and then");
    }
    return Settlement.complete();
  }
}
