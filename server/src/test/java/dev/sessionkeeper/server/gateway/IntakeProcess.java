package dev.sessionkeeper.server.gateway;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.testkit.StepByStep;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * A process that stores two deliveries and relays their messages to other queues. It kills itself
 * before the statement with a given number, or before the first one that contains a given text.
 */
final class IntakeProcess {
  /** The exit code of a killed process. */
  static final int KILLED = 137;

  private IntakeProcess() {}

  public static void main(String[] arguments) throws Exception {
    var place = arguments[3];
    var pool = pool(arguments[0], arguments[1], arguments[2]);
    var armed = new java.util.concurrent.atomic.AtomicBoolean();
    var count = new AtomicInteger();
    var watched =
        StepByStep.of(
            pool,
            (step, connection, work) -> {
              if (armed.get() && isPlace(place, step, count.incrementAndGet())) {
                System.out.println("died before " + step);
                System.out.flush();
                Runtime.getRuntime().halt(KILLED);
              }
              return work.run();
            });
    try (var elsewhere = queues(watched);
        var relay = RelayOutbox.start(queues(watched), elsewhere, TimeSource.system())) {
      armed.set(true);
      takeIn(watched, relay);
      awaitCarriedOver(pool);
    }
    System.exit(0);
  }

  private static boolean isPlace(String place, String step, int number) {
    return Character.isDigit(place.charAt(0))
        ? number == Integer.parseInt(place)
        : step.contains(place);
  }

  /** Posts both deliveries, in order; a stored one is answered as a duplicate. */
  static void takeIn(DataSource source, RelayOutbox relay) throws InterruptedException {
    var accept = new AcceptDelivery(Database.of(source), relay, 1);
    for (int step = 1; step <= 2; step++) {
      accept.accept(Intake.delivery(Intake.event("delivery-" + step, step)), Intake.BOTS);
    }
  }

  static PostgresQueueProvider queues(DataSource source) {
    return PostgresQueueProvider.create(source, PostgresOptions.ofDefaults().withoutMigration());
  }

  static void declare(PostgresQueueProvider queues) {
    for (Bot bot : Intake.BOTS) {
      queues.declare(bot.queue(), bot.queueSettings());
    }
  }

  static void awaitCarriedOver(DataSource source) {
    var database = Database.of(source);
    while (waiting(database) > 0) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  private static long waiting(Database database) {
    return database.withConnection(
        connection -> {
          try (var statement =
                  connection.prepareStatement(
                      "SELECT count(*) FROM keeper.waiting_message m JOIN keeper.queue q ON q.id = m.queue"
                          + " WHERE q.name = '"
                          + RelayOutbox.QUEUE
                          + "'");
              var rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
          }
        });
  }

  static HikariDataSource pool(String url, String user, String password) {
    var config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(20);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }
}
