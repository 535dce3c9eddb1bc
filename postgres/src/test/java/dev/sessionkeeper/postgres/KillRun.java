package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/**
 * Several processes consume while one of them is killed every few seconds, and the database once.
 * Afterwards every acknowledged message must have had its effect exactly once, in order, under
 * growing epochs.
 *
 * <p>For a longer run: {@code KillRun [seconds] [processes]}.
 */
final class KillRun {
  private static final int SESSIONS = 40;
  private static final int SENDERS = 4;
  private static final Duration LOCK = Duration.ofSeconds(2);

  /** The longest time without progress; a slow machine that progresses has more. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final EmbeddedPostgres postgres;
  private final DataSource source;
  private final Map<String, String> environment;
  private final int[][] acknowledged = new int[SENDERS][SESSIONS];
  private final List<Process> processes = new ArrayList<>();
  private final AtomicBoolean isSending = new AtomicBoolean(true);
  private final Map<Process, CountDownLatch> ready = new ConcurrentHashMap<>();
  private int kills;

  KillRun(EmbeddedPostgres postgres, Map<String, String> environment) {
    this.postgres = postgres;
    this.source = postgres.dataSource();
    this.environment = environment;
  }

  /**
   * The outcome of a run.
   *
   * @param problems violations; empty if all is well
   */
  record Report(long acknowledged, long effects, int kills, List<String> problems) {}

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 120;
    int processes = args.length > 1 ? Integer.parseInt(args[1]) : 3;
    try (var postgres = EmbeddedPostgres.temporary()) {
      var report =
          new KillRun(postgres, Map.of())
              .run(Duration.ofSeconds(seconds), processes, Duration.ofSeconds(3), true);
      System.out.println(report);
      if (!report.problems().isEmpty()) {
        throw new IllegalStateException("The run found problems");
      }
    }
  }

  Report run(Duration duration, int count, Duration killEvery, boolean killDatabase)
      throws Exception {
    try (var provider = PostgresQueueProvider.create(source)) {
      provider.declare(
          ConsumerProcess.QUEUE,
          QueueSettings.ordered().withLockDuration(LOCK).withMaxDeliveryCount(1000));
      execute(
          """
          CREATE TABLE effect (id bigint GENERATED ALWAYS AS IDENTITY, session text, number int, epoch bigint, attempt int)
          """);
      for (int i = 0; i < count; i++) {
        processes.add(startProcess());
      }
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        senders.add(Thread.ofVirtual().start(() -> send(provider, sender)));
      }
      killAround(duration, killEvery, killDatabase);
      isSending.set(false);
      for (var sender : senders) {
        sender.join();
      }
      long expected = total();
      awaitEffects(expected);
      return report(expected);
    } finally {
      for (var process : processes) {
        process.destroyForcibly().waitFor();
      }
    }
  }

  private void killAround(Duration duration, Duration killEvery, boolean killDatabase)
      throws Exception {
    var random = new Random(7);
    long end = System.nanoTime() + duration.toNanos();
    long databaseAt = System.nanoTime() + duration.toNanos() / 2;
    boolean isDatabaseKilled = !killDatabase;
    while (System.nanoTime() < end) {
      Thread.sleep(killEvery.toMillis() / 2 + random.nextInt((int) killEvery.toMillis()));
      if (!killEvery.equals(duration)) {
        int victim = random.nextInt(processes.size());
        // A process that is killed before it has taken anything proves nothing.
        ready.get(processes.get(victim)).await(30, TimeUnit.SECONDS);
        Thread.sleep(random.nextInt(1000));
        processes.get(victim).destroyForcibly().waitFor();
        processes.set(victim, startProcess());
        kills++;
      }
      if (!isDatabaseKilled && System.nanoTime() > databaseAt) {
        ProcessHandle.of(postgres.pid()).ifPresent(ProcessHandle::destroyForcibly);
        isDatabaseKilled = true;
        kills++;
      }
    }
  }

  private Process startProcess() throws IOException {
    var builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            ConsumerProcess.class.getName(),
            postgres.jdbcUrl(),
            postgres.user(),
            postgres.password());
    builder.environment().putAll(environment);
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    var process = builder.start();
    var isReady = new CountDownLatch(1);
    ready.put(process, isReady);
    Thread.ofVirtual().start(() -> read(process, isReady));
    return process;
  }

  /** Reads the output to its end, because a process with a full pipe would hang. */
  private static void read(Process process, CountDownLatch isReady) {
    try (var lines = process.inputReader()) {
      lines.lines().filter(line -> line.startsWith("ready")).forEach(line -> isReady.countDown());
    } catch (IOException | UncheckedIOException e) {
      isReady.countDown(); // It was killed in the middle of a line.
    }
  }

  private void send(PostgresQueueProvider provider, int sender) {
    var random = new Random(sender);
    while (isSending.get()) {
      int session = random.nextInt(SESSIONS);
      int number = acknowledged[sender][session] + 1;
      var message =
          Message.of(SessionId.of(sender + "/" + session), Payload.text(Integer.toString(number)));
      sendUntilAcknowledged(provider, message);
      acknowledged[sender][session] = number;
      // About as much as two processes handle on a busy machine.
      pause(10);
    }
  }

  /** Repeats the send until it is acknowledged; the message id makes repetitions harmless. */
  private static void sendUntilAcknowledged(PostgresQueueProvider provider, Message message) {
    while (true) {
      try {
        provider.send(ConsumerProcess.QUEUE, List.of(message));
        return;
      } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
        pause(200);
      }
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long total() {
    long sum = 0;
    for (var sender : acknowledged) {
      for (int number : sender) {
        sum += number;
      }
    }
    return sum;
  }

  private void awaitEffects(long expected) throws InterruptedException {
    long seen = 0;
    long since = System.nanoTime();
    while (seen < expected && System.nanoTime() - since < PATIENCE.toNanos()) {
      Thread.sleep(200);
      long now = effects();
      if (now > seen) {
        seen = now;
        since = System.nanoTime();
      }
    }
  }

  private long effects() {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery("SELECT count(*) FROM effect")) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      return -1; // The database is coming up again.
    }
  }

  private Report report(long expected) throws SQLException {
    var problems = new ArrayList<String>();
    long effects = 0;
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT session, number, epoch FROM effect ORDER BY session, id")) {
      var session = "";
      int number = 0;
      long epoch = 0;
      while (rows.next()) {
        effects++;
        if (!rows.getString(1).equals(session)) {
          session = rows.getString(1);
          number = 0;
          epoch = 0;
        }
        if (rows.getInt(2) != number + 1) {
          problems.add(session + ": " + rows.getInt(2) + " came after " + number);
        }
        if (rows.getLong(3) < epoch) {
          problems.add(session + ": epoch " + rows.getLong(3) + " after " + epoch);
        }
        number = rows.getInt(2);
        epoch = rows.getLong(3);
      }
    }
    if (effects != expected) {
      problems.add(expected + " messages were acknowledged, " + effects + " had an effect");
    }
    return new Report(expected, effects, kills, problems);
  }

  private void execute(String sql) throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
