package dev.sessionkeeper.examples.spring;

import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.jackson.JacksonCodec;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Runs the example in a process of its own and kills it repeatedly with SIGKILL while it books
 * orders.
 */
final class KillRun implements AutoCloseable {
  private static final QueueName LEDGER = QueueName.of("ledger");
  private static final int CUSTOMERS = 20;
  private static final JacksonCodec<OrderPlaced> CODEC = JacksonCodec.of(OrderPlaced.class);

  private final EmbeddedPostgres postgres = EmbeddedPostgres.temporary();
  private final HikariDataSource pool = new HikariDataSource();
  private final JdbcClient jdbc;
  private final Random random = new Random(11);
  private final File log;
  private Process application;

  KillRun(Path folder) {
    pool.setDataSource(postgres.dataSource());
    pool.setMaximumPoolSize(4);
    jdbc = JdbcClient.create(pool);
    log = folder.resolve("application.log").toFile();
  }

  /**
   * The contents of the ledger at the end.
   *
   * @param kills how often the application died before it had booked everything
   * @param outOfOrder rows whose predecessor of the same customer has a higher number
   */
  record Result(long rows, long distinct, long outOfOrder, int kills) {}

  Result run(int messages, int kills) throws Exception {
    application = start();
    awaitRows(0);
    send(messages);
    int done = 0;
    for (int i = 1; i <= kills; i++) {
      // At a random moment in the i-th part of the work, so that each kill hits handlers at work.
      long part = messages / (kills + 1);
      awaitRows(part * i - random.nextLong(Math.max(1, part / 2)));
      if (rows() < messages) {
        done++;
      }
      application.destroyForcibly().waitFor();
      application = start();
    }
    awaitRows(messages);
    return new Result(
        rows(),
        count("SELECT count(DISTINCT (customer, number)) FROM shop.ledger"),
        count(
            """
            SELECT count(*) FROM (SELECT number < lag(number) OVER (PARTITION BY customer ORDER BY id) AS late
                                    FROM shop.ledger) AS each WHERE late
            """),
        done);
  }

  private void send(int messages) {
    try (var provider = PostgresQueueProvider.create(pool)) {
      provider.declare(
          LEDGER,
          QueueSettings.ordered()
              .withLockDuration(Duration.ofSeconds(2))
              .withMaxDeliveryCount(1000));
      var batch = new ArrayList<Message>();
      for (int i = 0; i < messages; i++) {
        var customer = "c-" + i % CUSTOMERS;
        batch.add(
            Message.of(
                    SessionId.of(customer),
                    CODEC.encode(new OrderPlaced(customer, i / CUSTOMERS, "tea")))
                .withId(MessageId.of("order-" + i)));
      }
      for (int from = 0; from < messages; from += 100) {
        provider.send(LEDGER, batch.subList(from, Math.min(messages, from + 100)));
      }
    }
  }

  private Process start() throws IOException {
    var command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            OrdersApplication.class.getName(),
            "--server.port=0",
            "--orders.embedded=false",
            "--orders.booking-seconds=0.02",
            "--sessionkeeper.queues.ledger.lock-duration=2s",
            "--sessionkeeper.queues.ledger.max-delivery-count=1000",
            "--spring.datasource.url=" + postgres.jdbcUrl(),
            "--spring.datasource.username=" + postgres.user(),
            "--spring.datasource.password=" + postgres.password());
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
        .start();
  }

  private void awaitRows(long least) {
    Awaitility.await()
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(5))
        .ignoreExceptions()
        .until(() -> rows() >= least);
  }

  private long rows() {
    return count("SELECT count(*) FROM shop.ledger");
  }

  private long count(String sql) {
    return jdbc.sql(sql).query(Long.class).single();
  }

  @Override
  public void close() throws InterruptedException {
    if (application != null) {
      application.destroyForcibly().waitFor();
    }
    pool.close();
    postgres.close();
  }
}
