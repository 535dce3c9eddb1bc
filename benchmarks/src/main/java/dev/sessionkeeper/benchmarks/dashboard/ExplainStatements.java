package dev.sessionkeeper.benchmarks.dashboard;

import static dev.sessionkeeper.benchmarks.dashboard.DashboardBenchmark.OUT;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/**
 * Requests every screen while {@code auto_explain} is on, and reads the plan of every statement
 * from the database's log: its duration, and the rows that its scans read.
 */
final class ExplainStatements {
  private static final int MOST_ROWS = 20_000;
  private static final double MOST_MILLIS = 300;
  private static final int SHOWN = 15;
  private static final int SHOWN_CHARACTERS = 150;
  private static final long LOG_NANOS = 200_000_000L;

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

  private final EmbeddedPostgres postgres;
  private final Path log;

  ExplainStatements(EmbeddedPostgres postgres, Path log) {
    this.postgres = postgres;
    this.log = log;
  }

  /**
   * A statement that was executed.
   *
   * @param rows the rows that scans of tables and indexes returned or discarded
   */
  record Plan(String screen, String sql, double millis, long rows) {
    boolean isBounded() {
      return millis <= MOST_MILLIS && rows <= MOST_ROWS;
    }
  }

  /** Makes new connections log the plans of their statements. */
  void turnOn() throws SQLException {
    try (var connection = postgres.adminDataSource().getConnection();
        var statement = connection.createStatement()) {
      for (var setting : SETTINGS) {
        statement.execute("ALTER SYSTEM SET " + setting);
      }
      statement.execute("SELECT pg_reload_conf()");
    }
  }

  boolean run(LargeScreens screens) throws Exception {
    var plans = new ArrayList<Plan>();
    for (var screen : LargeScreens.screens().entrySet()) {
      var path = screen.getValue().getValue();
      screens.get(path); // The first request fills caches of plans and pages.
      LockSupport.parkNanos(LOG_NANOS);
      long from = Files.size(log);
      screens.get(path);
      LockSupport.parkNanos(LOG_NANOS); // Some plans are logged after the answer was sent.
      plans.addAll(read(screen.getKey(), from));
    }
    return report(plans);
  }

  private List<Plan> read(String screen, long from) throws IOException {
    try (var channel = Files.newByteChannel(log)) {
      channel.position(from);
      var lines = new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8)).lines();
      return parse(screen, lines.toList());
    }
  }

  static List<Plan> parse(String screen, List<String> lines) {
    var plans = new ArrayList<Plan>();
    for (int i = 0; i < lines.size(); i++) {
      var begin = BEGIN.matcher(lines.get(i));
      if (begin.find()) {
        var plan = new ArrayList<String>();
        while (i + 1 < lines.size() && lines.get(i + 1).startsWith("\t")) {
          i++;
          plan.add(lines.get(i));
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
        boolean isScan = TABLE_SCAN.matcher(line).find();
        rows += isScan ? Math.round(Double.parseDouble(node.group(1)) * loops) : 0;
      }
      var removed = REMOVED.matcher(line);
      rows += removed.find() ? Long.parseLong(removed.group(1)) * loops : 0;
    }
    return new Plan(screen, sql.toString().strip().replaceAll("\\s+", " "), millis, rows);
  }

  private static boolean report(List<Plan> plans) {
    Map<String, Plan> worst = new LinkedHashMap<>();
    for (var plan : plans) {
      worst.merge(plan.sql(), plan, (one, other) -> one.rows() >= other.rows() ? one : other);
    }
    OUT.printf(
        Locale.ROOT,
        "%n%,d statements, %,d different ones; those that read most rows:%n",
        plans.size(),
        worst.size());
    OUT.printf("%10s %9s  %-24s %s%n", "rows", "ms", "screen", "statement");
    worst.values().stream()
        .sorted(Comparator.comparingLong(Plan::rows).reversed())
        .limit(SHOWN)
        .forEach(ExplainStatements::print);
    OUT.println("those that took longest:");
    worst.values().stream()
        .sorted(Comparator.comparingDouble(Plan::millis).reversed())
        .limit(SHOWN / 3)
        .forEach(ExplainStatements::print);
    var over = plans.stream().filter(plan -> !plan.isBounded()).toList();
    OUT.printf(Locale.ROOT, "%,d over %,d rows or %.0f ms%n", over.size(), MOST_ROWS, MOST_MILLIS);
    over.forEach(ExplainStatements::print);
    return over.isEmpty() && !plans.isEmpty();
  }

  private static void print(Plan plan) {
    var sql = plan.sql();
    OUT.printf(
        Locale.ROOT,
        "%,10d %9.2f  %-24s %s%n",
        plan.rows(),
        plan.millis(),
        plan.screen(),
        sql.substring(0, Math.min(SHOWN_CHARACTERS, sql.length())));
  }
}
