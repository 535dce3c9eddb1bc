package dev.sessionkeeper.benchmarks.soak;

import dev.sessionkeeper.benchmarks.http.ServerChild;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.benchmarks.proof.Proof;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Runs a server in a process of its own under a steady load over HTTP. Memory, connections,
 * threads, files, the size of tables, and the rate must stay flat: the slope of each is judged.
 *
 * <p>{@code soak --minutes 120 [--seconds N] [--proof FILE]}. The exit code is 1 if a figure moved.
 */
public final class Soak {
  private static final PrintStream OUT = System.out;
  private static final int SAMPLES = 40;
  private static final Duration SHORTEST = Duration.ofSeconds(2);
  private static final Pattern HEAP = Pattern.compile("used (\\d+)K");
  private static final double MEGABYTE = 1 << 20;
  private static final String TABLES =
      "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid ="
          + " relnamespace WHERE nspname = 'keeper' AND relkind IN ('r', 'p')";
  private static final String CONNECTIONS =
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <>"
          + " pg_backend_pid()";

  private final Series heap = new Series("live heap of the server, MB", 0.25, 16, true);
  private final Series memory = new Series("resident memory of the server, MB", 0.25, 64, true);
  private final Series threads = new Series("threads of the server", 0.2, 10, true);
  private final Series files = new Series("open files of the server", 0.2, 10, true);
  private final Series connections = new Series("connections to the database", 0.1, 3, true);
  private final Series tables = new Series("tables and indexes, MB", 0.25, 16, true);
  private final Series backlog = new Series("messages in the queue", 0.2, 500, true);
  private final Series rate = new Series("messages per second, done", 0.3, 20, false);

  private final Duration duration;

  Soak(Duration duration) {
    this.duration = duration;
  }

  public static void main(String[] arguments) throws Exception {
    var duration = Duration.ofMinutes(5);
    var proof = Optional.<Path>empty();
    for (int i = 0; i < arguments.length; i += 2) {
      if (arguments[i].equals("--help") || i + 1 == arguments.length) {
        OUT.println(
            "Usage: keeper soak [--minutes N | --seconds N] [--proof FILE]. Default: 5 minutes");
        System.exit(arguments[i].equals("--help") ? 0 : 2);
      }
      var value = arguments[i + 1];
      switch (arguments[i]) {
        case "--minutes" -> duration = Duration.ofMinutes(Long.parseLong(value));
        case "--seconds" -> duration = Duration.ofSeconds(Long.parseLong(value));
        case "--proof" -> proof = Optional.of(Path.of(value));
        default -> {
          OUT.println("Unknown option: " + arguments[i]);
          System.exit(2);
        }
      }
    }
    var soak = new Soak(duration);
    soak.run();
    OUT.println(soak.table());
    if (proof.isPresent()) {
      Proof.write(
          proof.get(),
          "Soak",
          "keeper soak --seconds " + duration.toSeconds(),
          soak.result(),
          soak.table());
    }
    System.exit(soak.notFlat().isEmpty() ? 0 : 1);
  }

  /** Applies the load, and measures. */
  void run() throws Exception {
    var log = Files.createTempFile("keeper-soak-", ".log");
    try (var postgres = EmbeddedPostgres.temporary();
        var server = ServerChild.start(postgres, "keeper", log);
        var load = SteadyLoad.start(ServerChild.addressOf(server))) {
      var step = duration.dividedBy(SAMPLES);
      step = step.compareTo(SHORTEST) < 0 ? SHORTEST : step;
      long end = System.nanoTime() + duration.toNanos();
      long done = load.done();
      long since = System.nanoTime();
      while (System.nanoTime() < end) {
        Thread.sleep(step);
        long now = System.nanoTime();
        long doneNow = load.done();
        rate.add((doneNow - done) * 1e9 / (now - since));
        done = doneNow;
        since = now;
        sample(postgres, server);
        backlog.add((double) load.backlog());
        OUT.printf(
            Locale.ROOT,
            "%6d s left, %,d done, %.0f/s%n",
            Math.max(0, (end - now) / 1_000_000_000),
            doneNow,
            rate.values().getLast());
      }
      load.requireNoFailure();
    }
  }

  private void sample(EmbeddedPostgres postgres, ChildProcess server)
      throws IOException, InterruptedException, SQLException {
    heap.add(liveHeap(server.pid()));
    var status = Files.readString(Path.of("/proc/" + server.pid() + "/status"));
    memory.add(numberAfter("VmRSS:", status) * 1024 / MEGABYTE);
    threads.add(numberAfter("Threads:", status));
    try (var open = Files.list(Path.of("/proc/" + server.pid() + "/fd"))) {
      files.add((double) open.count());
    }
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      connections.add(number(statement, CONNECTIONS));
      tables.add(number(statement, TABLES) / MEGABYTE);
    }
  }

  private static double number(java.sql.Statement statement, String sql) throws SQLException {
    try (var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getDouble(1);
    }
  }

  private static double numberAfter(String name, String status) {
    var line = status.lines().filter(each -> each.startsWith(name)).findFirst().orElseThrow();
    return Double.parseDouble(line.substring(name.length()).replace("kB", "").strip());
  }

  /** Returns the heap in use after a collection, because uncollected objects are no leak. */
  private static double liveHeap(long pid) throws IOException, InterruptedException {
    jcmd(pid, "GC.run");
    var said = jcmd(pid, "GC.heap_info");
    double kilobytes = 0;
    for (var line : said.lines().filter(each -> !each.contains("etaspace")).toList()) {
      var used = HEAP.matcher(line);
      // The young and the old generation; their parts are reported as percentages.
      if (used.find() && !line.contains("class space")) {
        kilobytes += Double.parseDouble(used.group(1));
      }
    }
    return kilobytes * 1024 / MEGABYTE;
  }

  private static String jcmd(long pid, String command) throws IOException, InterruptedException {
    var tool = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    var process =
        new ProcessBuilder(tool, Long.toString(pid), command).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("jcmd " + command + " failed: " + said);
    }
    return said;
  }

  private List<Series> all() {
    return List.of(heap, memory, threads, files, connections, tables, backlog, rate);
  }

  /** Returns the figures that moved, by name. */
  List<String> notFlat() {
    var names = new ArrayList<String>();
    all().stream().filter(series -> !series.isFlat()).forEach(series -> names.add(series.name()));
    return names;
  }

  private String result() {
    var moved = notFlat();
    return moved.isEmpty()
        ? "All " + all().size() + " figures stayed flat for " + duration.toSeconds() + " s."
        : "**Not flat**: " + String.join(", ", moved) + ".";
  }

  String table() {
    var text =
        new StringBuilder("After a warm-up of a third of " + duration.toSeconds() + " s:\n\n");
    text.append("| figure | mean | growth over the judged time | allowed | verdict |\n");
    text.append("|---|---|---|---|---|\n");
    all().forEach(series -> text.append(series.row()).append('\n'));
    return text.toString();
  }
}
