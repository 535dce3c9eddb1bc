package dev.sessionkeeper.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * Crashes the database repeatedly, one to two seconds after the last message of a reader, while
 * another application commits without waiting for the disk. Some of its transactions are lost, and
 * PostgreSQL assigns their ids again. Afterwards every acknowledged message must be handled, in
 * order.
 *
 * <p>The reader closes, or stops because it is idle, in turns. For a longer run: {@code CrashRun
 * [crashes]}.
 */
final class CrashRun implements AutoCloseable {
  private static final QueueName QUEUE = QueueName.of("crash");
  private static final Owner READER = Owner.of("reader");
  private static final int SESSIONS = 10;
  private static final Duration LOCK = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  /** After this time without work, a reader stops. */
  private static final Duration IDLE = Duration.ofMillis(2300);

  private final EmbeddedPostgres postgres;
  private final HikariDataSource pool;
  private final Random random = new Random(7);
  private final Map<SessionId, Integer> sent = new HashMap<>();
  private final Map<SessionId, Integer> handled = new HashMap<>();
  private final List<String> problems = new ArrayList<>();
  private int crashes;
  private int crashesWithLosses;

  CrashRun(EmbeddedPostgres postgres) {
    this.postgres = postgres;
    var config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(16);
    config.setConnectionTimeout(PATIENCE.toMillis());
    this.pool = new HikariDataSource(config);
  }

  /**
   * The outcome of a run.
   *
   * @param crashesWithLosses crashes after which transaction ids were used again
   * @param problems violations; empty if all is well
   */
  record Report(int crashes, int crashesWithLosses, int handled, List<String> problems) {}

  public static void main(String[] args) throws Exception {
    int crashes = args.length > 0 ? Integer.parseInt(args[0]) : 100;
    try (var postgres = EmbeddedPostgres.temporary();
        var run = new CrashRun(postgres)) {
      var report = run.run(crashes);
      System.out.println(report);
      if (!report.problems().isEmpty()) {
        throw new IllegalStateException("The run found problems");
      }
    }
  }

  Report run(int count) throws Exception {
    try (var provider = open(PostgresOptions.NEVER)) {
      provider.declare(QUEUE, QueueSettings.ordered().withLockDuration(LOCK));
    }
    execute("CREATE TABLE other_application (id bigint GENERATED ALWAYS AS IDENTITY)");
    for (int i = 0; i < count && problems.isEmpty(); i++) {
      turn(i % 2 == 0);
    }
    int all = handled.values().stream().mapToInt(Integer::intValue).sum();
    return new Report(crashes, crashesWithLosses, all, List.copyOf(problems));
  }

  private void turn(boolean closes) throws Exception {
    try (var sender = open(PostgresOptions.NEVER)) {
      try (var reader = open(1)) {
        readAlone(sender, reader);
        long lastWork = System.nanoTime();
        crash(reader, random.nextInt(1000, 2000));
        send(sender);
        if (!closes) {
          var left = IDLE.minusNanos(System.nanoTime() - lastWork);
          Thread.sleep(Math.max(0, left.toMillis()));
          reader.stats(QUEUE);
        }
      }
      handle(sender);
      send(sender);
      handle(sender);
    }
  }

  /** Accepts the first sessions from rows; then the process becomes a reader. */
  private void readAlone(PostgresQueueProvider sender, PostgresQueueProvider reader)
      throws Exception {
    // Otherwise it would wait for five seconds after the last session that another process took.
    execute("UPDATE keeper.discovery SET asked_at = NULL");
    do {
      send(sender);
      handle(reader);
    } while (number("SELECT count(*) FROM keeper.reader") == 0
        || number("SELECT count(*) FROM keeper.lane") > 0);
  }

  private void send(PostgresQueueProvider provider) {
    for (int i = 0; i < SESSIONS; i++) {
      var session = SessionId.of("s-" + i);
      int number = sent.getOrDefault(session, 0) + 1;
      provider.send(QUEUE, List.of(Message.of(session, Payload.text(Integer.toString(number)))));
      sent.put(session, number);
    }
  }

  /** Handles all acknowledged messages. */
  private void handle(PostgresQueueProvider provider) throws Exception {
    long began = System.nanoTime();
    while (!handled.equals(sent)) {
      if (System.nanoTime() - began > PATIENCE.toNanos()) {
        problems.add("after " + crashes + " crashes sent " + sent + ", handled " + handled);
        return;
      }
      if (provider.sessions(QUEUE).acceptNext(READER, Duration.ofSeconds(1))
          instanceof AcceptResult.Accepted accepted) {
        try (var held = accepted.session()) {
          for (var delivery : held.receive(100, Duration.ZERO)) {
            int number = Integer.parseInt(delivery.payload().asText());
            int before = handled.getOrDefault(held.id(), 0);
            if (number != before + 1) {
              problems.add(held.id() + ": " + number + " came after " + before);
            }
            handled.put(held.id(), number);
            held.settle(List.of(new Settled(delivery.sequence(), Settlement.complete())))
                .toCompletableFuture()
                .get();
          }
        }
      }
    }
  }

  private void crash(PostgresQueueProvider reader, long afterMillis) throws Exception {
    var committing = CompletableFuture.runAsync(this::commitWithoutWaiting);
    Thread.sleep(afterMillis);
    // The reader looks, so that its snapshot sees the other application's last transactions.
    reader.stats(QUEUE);
    long before = nextTransaction();
    new ProcessBuilder("kill", "-QUIT", Long.toString(postgres.pid())).start().waitFor();
    crashes++;
    committing.join();
    pool.getHikariPoolMXBean().softEvictConnections();
    if (awaitNextTransaction() < before) {
      crashesWithLosses++;
    }
  }

  /** Commits without waiting for the disk, until the database is gone. */
  private void commitWithoutWaiting() {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("SET synchronous_commit = off");
      while (true) {
        statement.execute("INSERT INTO other_application DEFAULT VALUES");
        LockSupport.parkNanos(300_000);
      }
    } catch (SQLException e) {
      // It crashed, as it should.
    }
  }

  private long awaitNextTransaction() throws Exception {
    long began = System.nanoTime();
    while (true) {
      try {
        return nextTransaction();
      } catch (SQLException e) {
        if (System.nanoTime() - began > PATIENCE.toNanos()) {
          throw e;
        }
        Thread.sleep(20);
      }
    }
  }

  private long nextTransaction() throws SQLException {
    return number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
  }

  private long number(String sql) throws SQLException {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private PostgresQueueProvider open(int carryFrom) {
    return PostgresQueueProvider.create(
        pool, PostgresOptions.ofDefaults().withCarryFrom(carryFrom));
  }

  @Override
  public void close() {
    pool.close();
  }
}
