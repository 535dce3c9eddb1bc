package dev.sessionkeeper.benchmarks.dashboard;

import static dev.sessionkeeper.benchmarks.dashboard.DashboardBenchmark.OUT;
import static dev.sessionkeeper.benchmarks.dashboard.DashboardBenchmark.QUEUE;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.spi.OperableSessions.Act;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * Fills a queue and requests every screen. The time of a whole answer is an upper bound of the
 * database's part. Rows are counted by the tables' own statistics.
 */
final class LargeScreens {
  private static final int ROUNDS = 15;
  private static final int MOST_ROWS = 20_000;
  private static final int HELD = 200;
  private static final long STATISTICS_FLUSH_NANOS = 1_500_000_000L;

  /** Counts rows read by scans and index lookups, of all tables of the store. */
  private static final String ROWS_READ =
      """
      SELECT sum(seq_tup_read + COALESCE(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE schemaname = 'keeper'
      """;

  private final KeeperServer server;
  private final PostgresQueueProvider queues;
  private final DataSource source;
  private final HttpClient client = HttpClient.newHttpClient();

  LargeScreens(KeeperServer server, PostgresQueueProvider queues, DataSource source) {
    this.server = server;
    this.queues = queues;
    this.source = source;
  }

  boolean run(int sessions, int messages) throws Exception {
    fill(sessions, messages);
    boolean isGood = true;
    OUT.printf(
        Locale.ROOT, "%-28s %8s %8s %8s %10s%n", "screen", "bound", "p50 ms", "max ms", "rows");
    for (var screen : screens().entrySet()) {
      isGood &= measure(screen.getKey(), screen.getValue());
    }
    return isGood;
  }

  /** Returns the screens by name, each with its bound in milliseconds and its path. */
  static Map<String, Map.Entry<Integer, String>> screens() {
    var screens = new LinkedHashMap<String, Map.Entry<Integer, String>>();
    var queue = "/ui/queues/" + QUEUE;
    screens.put("overview", Map.entry(50, "/"));
    screens.put("queues", Map.entry(100, "/ui/queues"));
    screens.put("queue, attention", Map.entry(100, queue));
    screens.put("queue, held", Map.entry(100, queue + "?tab=held"));
    screens.put("queue, ready", Map.entry(100, queue + "?tab=ready"));
    screens.put("queue, prefix", Map.entry(100, queue + "?tab=ready&prefix=s-0000"));
    screens.put("session, parked", Map.entry(150, queue + "/session?id=s-0000003"));
    screens.put("session, in bundles", Map.entry(150, queue + "/session?id=s-0050001"));
    screens.put("session, messages", Map.entry(150, queue + "/session?id=s-0050001&view=messages"));
    screens.put("session, unknown", Map.entry(150, queue + "/session?id=nobody"));
    screens.put("dead letters", Map.entry(150, queue + "/dead-letters"));
    screens.put("dead letters, filter", Map.entry(150, queue + "/dead-letters?reason=comma"));
    screens.put("dead letters, session", Map.entry(150, queue + "/dead-letters?session=s-0000001"));
    screens.put("events", Map.entry(150, "/ui/events"));
    screens.put("bots", Map.entry(50, "/ui/bots"));
    screens.put("registry", Map.entry(100, "/ui/registry"));
    screens.put("usage", Map.entry(300, "/ui/usage"));
    screens.put("jobs", Map.entry(50, "/ui/jobs"));
    screens.put("streams", Map.entry(50, "/ui/streams"));
    screens.put("access", Map.entry(100, "/ui/access"));
    screens.put("system", Map.entry(100, "/ui/system"));
    screens.put(
        "GET sessions (the API)", Map.entry(300, "/queues/" + QUEUE + "/sessions?limit=50"));
    return screens;
  }

  private boolean measure(String name, Map.Entry<Integer, String> screen) throws Exception {
    for (int i = 0; i < 3; i++) {
      get(screen.getValue());
    }
    long rowsBefore = rows();
    var millis = new ArrayList<Double>();
    for (int i = 0; i < ROUNDS; i++) {
      long begin = System.nanoTime();
      get(screen.getValue());
      millis.add((System.nanoTime() - begin) / 1e6);
    }
    long rows = (rows() - rowsBefore) / ROUNDS;
    millis.sort(Double::compare);
    double median = millis.get(ROUNDS / 2);
    boolean isGood = median <= screen.getKey() && rows <= MOST_ROWS;
    OUT.printf(
        Locale.ROOT,
        "%-28s %8d %8.1f %8.1f %,10d%s%n",
        name,
        screen.getKey(),
        median,
        millis.getLast(),
        rows,
        isGood ? "" : "  OVER");
    return isGood;
  }

  private long rows() throws SQLException {
    LockSupport.parkNanos(
        STATISTICS_FLUSH_NANOS); // Sessions report their statistics once a second.
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var row = statement.executeQuery(ROWS_READ)) {
      row.next();
      return row.getLong(1);
    }
  }

  void get(String path) throws IOException, InterruptedException {
    var answer =
        client.send(
            HttpRequest.newBuilder(URI.create(server.address() + path)).build(),
            HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException(path + " answered " + answer.statusCode() + ": " + answer.body());
    }
  }

  /**
   * Stores messages in message batches, thousands of parked, held and paused sessions, and many
   * dead letters.
   */
  private void fill(int sessions, int messages) throws Exception {
    long begin = System.nanoTime();
    queues.declare(
        QUEUE,
        QueueSettings.ordered()
            .withMaxDeliveryCount(2)
            .withLockDuration(Duration.ofMinutes(10))
            .withPoisonPolicy(PoisonPolicy.PARK_SESSION));
    var next = new AtomicInteger();
    int batch = 1_000;
    try (var threads = java.util.concurrent.Executors.newFixedThreadPool(4)) {
      for (int i = 0; i < messages / batch; i++) {
        var unused =
            threads.submit(
                () -> {
                  int first = next.getAndAdd(batch);
                  queues.send(
                      QUEUE,
                      IntStream.range(first, first + batch)
                          .mapToObj(n -> message(n % sessions, n))
                          .toList());
                });
      }
    }
    for (int i = 0; i < Math.min(sessions / 10, 2_000); i++) {
      var act =
          switch (i % 4) {
            case 0 -> Act.DEAD_LETTER_ALL;
            case 1 -> Act.PAUSE;
            default -> Act.PARK;
          };
      queues.act(QUEUE, session(i), act, "NumberFormatException: a comma in " + i);
    }
    for (int i = 0; i < Math.min(sessions / 100, HELD); i++) {
      hold(session(sessions - 1 - i));
    }
    OUT.printf(
        Locale.ROOT,
        "%,d messages of %,d sessions stored in %.0f s%n",
        messages,
        sessions,
        (System.nanoTime() - begin) / 1e9);
    try (var connection = source.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("ANALYZE");
    }
  }

  private void hold(SessionId session) throws IOException, InterruptedException {
    var lease =
        HttpRequest.newBuilder(URI.create(server.address() + "/queues/" + QUEUE + "/leases"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"sessionId\":\"" + session + "\"}"))
            .build();
    var answer = client.send(lease, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() >= 300) {
      throw new IOException(answer.statusCode() + ": " + answer.body());
    }
  }

  private static Message message(int session, int number) {
    return Message.of(session(session), Payload.json("{\"n\":" + number + "}"));
  }

  static SessionId session(int number) {
    return SessionId.of(String.format(Locale.ROOT, "s-%07d", number));
  }
}
