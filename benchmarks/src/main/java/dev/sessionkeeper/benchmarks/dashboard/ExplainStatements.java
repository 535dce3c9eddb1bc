package dev.sessionkeeper.benchmarks.dashboard;

import static dev.sessionkeeper.benchmarks.dashboard.DashboardBenchmark.OUT;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Fills a queue, asks for every screen with {@code auto_explain} on, and reads the plan of every
 * statement from the database's log: how long it took, and how many rows its scans read.
 */
final class ExplainStatements {
  private static final int MOST_ROWS = 20_000;
  private static final double MOST_MILLIS = 300;
  private static final int SHOWN = 15;

  private static final List<String> SETTINGS =
      List.of(
          "session_preload_libraries = 'auto_explain'",
          "auto_explain.log_min_duration = 0",
          "auto_explain.log_analyze = on",
          "auto_explain.log_timing = off",
          "auto_explain.log_nested_statements = on",
          "auto_explain.log_parameter_max_length = 0");

  private static final Pattern BEGIN = Pattern.compile("LOG:  duration: ([0-9.]+) ms  plan:");
  private static final Pattern NODE =
      Pattern.compile("\\(actual (?:time=\\S+ )?rows=([0-9.]+) loops=([0-9]+)\\)");
  private static final Pattern TABLE_SCAN =
      Pattern.compile("(?:Seq|Index|Index Only|Bitmap Heap|Tid|Tid Range) Scan ");
  private static final Pattern REMOVED =
      Pattern.compile("Rows Removed by (?:Filter|Index Recheck): ([0-9]+)");

  /**
   * A statement as it ran.
   *
   * @param rows that scans of tables and indexes brought or threw away
   */
  private record Plan(String screen, String sql, double millis, long rows) {
    boolean isBounded() {
      return millis <= MOST_MILLIS && rows <= MOST_ROWS;
    }
  }

  boolean run(int sessions, int messages) throws Exception {
    var folder = Files.createTempDirectory("keeper-explain-");
    try (var postgres = EmbeddedPostgres.start(folder)) {
      try (var server = DashboardBenchmark.serve(postgres);
          var queues = PostgresQueueProvider.create(postgres.dataSource())) {
        new LargeScreens(server, queues, postgres.dataSource()).fill(sessions, messages);
      }
      explain(folder, postgres);
      try (var server = DashboardBenchmark.serve(postgres);
          var queues = PostgresQueueProvider.create(postgres.dataSource())) {
        var screens = new LargeScreens(server, queues, postgres.dataSource());
        return report(plans(screens, folder.resolve("postgres.log")));
      }
    } finally {
      delete(folder);
    }
  }

  /** New connections explain what they run; the server that filled the queue has none left. */
  private static void explain(Path folder, EmbeddedPostgres postgres)
      throws IOException, InterruptedException {
    var settings = folder.resolve("postgres").resolve("postgresql.auto.conf");
    Files.write(settings, SETTINGS, StandardOpenOption.APPEND);
    new ProcessBuilder("kill", "-HUP", String.valueOf(postgres.pid())).start().waitFor();
  }

  private static List<Plan> plans(LargeScreens screens, Path log) throws Exception {
    var plans = new ArrayList<Plan>();
    for (var screen : LargeScreens.screens().entrySet()) {
      // Once without a look: what a statement plans the first time does not count.
      screens.get(screen.getValue().getValue());
      long from = Files.size(log);
      screens.get(screen.getValue().getValue());
      try (var channel = Files.newByteChannel(log)) {
        channel.position(from);
        var text = java.nio.channels.Channels.newReader(channel, "UTF-8");
        plans.addAll(parse(screen.getKey(), new java.io.BufferedReader(text).lines().toList()));
      }
    }
    return plans;
  }

  private static List<Plan> parse(String screen, List<String> lines) {
    var plans = new ArrayList<Plan>();
    for (int i = 0; i < lines.size(); i++) {
      var begin = BEGIN.matcher(lines.get(i));
      if (begin.find()) {
        var plan = new ArrayList<String>();
        while (i + 1 < lines.size() && lines.get(i + 1).startsWith("\t")) {
          plan.add(lines.get(++i));
        }
        plans.add(plan(screen, Double.parseDouble(begin.group(1)), plan));
      }
    }
    return plans;
  }

  private static Plan plan(String screen, double millis, List<String> lines) {
    var sql = new StringBuilder();
    boolean isPlan = false;
    long rows = 0;
    long loops = 1;
    for (var line : lines) {
      isPlan |= line.contains("(cost=");
      if (!isPlan) {
        sql.append(line.replace("Query Text:", "").strip()).append(' ');
        continue;
      }
      var node = NODE.matcher(line);
      if (node.find()) {
        loops = Long.parseLong(node.group(2));
        rows +=
            TABLE_SCAN.matcher(line).find()
                ? Math.round(Double.parseDouble(node.group(1)) * loops)
                : 0;
      }
      var removed = REMOVED.matcher(line);
      rows += removed.find() ? Long.parseLong(removed.group(1)) * loops : 0;
    }
    return new Plan(screen, sql.toString().strip(), millis, rows);
  }

  private static boolean report(List<Plan> plans) {
    Map<String, Plan> worst = new LinkedHashMap<>();
    plans.forEach(
        plan ->
            worst.merge(
                plan.sql(), plan, (one, other) -> one.rows() >= other.rows() ? one : other));
    OUT.printf(
        Locale.ROOT, "%,d statements, %,d different ones; those that read most:%n",
        plans.size(), worst.size());
    OUT.printf("%10s %9s  %-24s %s%n", "rows", "ms", "screen", "statement");
    worst.values().stream()
        .sorted(Comparator.comparingLong(Plan::rows).reversed())
        .limit(SHOWN)
        .forEach(ExplainStatements::print);
    var over = plans.stream().filter(plan -> !plan.isBounded()).toList();
    OUT.printf(
        Locale.ROOT, "%,d over %,d rows or %.0f ms%n", over.size(), MOST_ROWS, MOST_MILLIS);
    over.forEach(ExplainStatements::print);
    return over.isEmpty() && !plans.isEmpty();
  }

  private static void print(Plan plan) {
    var sql = plan.sql();
    OUT.printf(
        Locale.ROOT, "%,10d %9.2f  %-24s %s%n",
        plan.rows(), plan.millis(), plan.screen(), sql.substring(0, Math.min(110, sql.length())));
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
