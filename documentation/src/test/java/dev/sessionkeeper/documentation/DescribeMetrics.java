package dev.sessionkeeper.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Writes the reference page of the metrics from the statements in the server's sources that
 * register them: name, kind, description and labels. A running server would not show metrics that
 * are registered with their first event.
 */
final class DescribeMetrics {
  private static final Path SOURCES = Manual.ROOT.resolve("server/src/main/java");
  private static final Pattern NAME = Pattern.compile("\"(keeper\\.[a-z._]+[a-z])\"");
  private static final Pattern PART =
      Pattern.compile("(gauge|counter|count)\\(\\s*writer,\\s*\"([a-z.]+)\",\\s*\"([^\"]+)\"");
  private static final Pattern TEXT = Pattern.compile("\"([^\"]*)\"");
  private static final Pattern TAG = Pattern.compile("\\.tag\\(\\s*\"(\\w+)\"");

  /** A metric as the page shows it. */
  record Metric(String name, String type, String description, String labels) {}

  private DescribeMetrics() {}

  static String page() throws IOException {
    var text =
        new StringBuilder(
            """
            # Metrics

            `GET /metrics` serves these in the Prometheus text format. A timer has `_count`, `_sum` and `_max`. [Monitor a server](../how-to/monitor.md) shows
            how to scrape them; `ops/` has alerts. Counters exist from the start of the server, so that `increase()` sees their first event. The metrics of the Java
            process begin with `jvm_`, `process_` and `system_`, such as `jvm_memory_used_bytes`, `jvm_gc_pause_seconds` and `process_cpu_usage`.

            | metric | type | labels | meaning |
            |---|---|---|---|
            """);
    all()
        .values()
        .forEach(
            metric ->
                text.append(
                    "| `%s` | %s | %s | %s |%n"
                        .formatted(
                            metric.name(),
                            metric.type(),
                            metric.labels(),
                            metric.description().isEmpty()
                                ? UNDESCRIBED.get(metric.name())
                                : metric.description())));
    return text.toString();
  }

  static Map<String, Metric> all() throws IOException {
    var metrics = new TreeMap<String, Metric>();
    try (var files = Files.walk(SOURCES)) {
      for (var file : files.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
        var source = Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", "");
        registrations(source, metrics);
        parts(source, metrics);
      }
    }
    return metrics;
  }

  /** Reads each name with its surrounding statement. */
  private static void registrations(String source, Map<String, Metric> metrics) {
    var names = NAME.matcher(source);
    while (names.find()) {
      int from = source.lastIndexOf(";\n", names.start()) + 1;
      int end = source.indexOf(";\n", names.end());
      var statement = source.substring(Math.max(0, from), end < 0 ? source.length() : end);
      var behind = source.substring(names.end(), end < 0 ? source.length() : end);
      // Dashboard files have such names too, and looking a metric up registers none.
      boolean isFile = names.group(1).matches(".*\\.(js|css)");
      if (!isFile && !statement.contains(".find(")) {
        add(metrics, names.group(1), statement, behind, source);
      }
    }
  }

  private static void add(
      Map<String, Metric> metrics, String id, String statement, String behind, String source) {
    var type = type(id, statement, source);
    var metric =
        new Metric(
            exposed(id, type, statement), type, description(behind), labels(id, statement, source));
    metrics.merge(
        metric.name(),
        metric,
        (old, other) -> old.description().length() >= other.description().length() ? old : other);
  }

  /** Returns the first sentence among the texts; names and labels contain no space. */
  private static String description(String behind) {
    return TEXT.matcher(behind)
        .results()
        .map(text -> text.group(1))
        .filter(text -> text.contains(" "))
        .findFirst()
        .orElse("");
  }

  /** Sentences for metrics that the code registers without a description. */
  private static final Map<String, String> UNDESCRIBED =
      Map.of(
          "keeper_job_alerts_total", "Alerts: three failed attempts of a job in a row",
          "keeper_job_clock_corrections_total",
              "Jobs that were planned anew after the database's clock was set back",
          "keeper_job_leases_lost_total", "Runs that lost their lease",
          "keeper_job_slots_dropped_total", "Missed slots that the misfire policy dropped",
          "keeper_usage_metering_held",
              "1 while metering is held because the database's clock jumped");

  /** Reads the metrics of the coalescing writers, whose names share a prefix. */
  private static void parts(String source, Map<String, Metric> metrics) {
    var part = PART.matcher(source);
    while (part.find()) {
      var type = part.group(1).equals("gauge") ? "gauge" : "counter";
      var name = exposed("keeper.persistence." + part.group(2), type, "");
      metrics.put(name, new Metric(name, type, part.group(3), "`writer`"));
    }
  }

  private static String type(String id, String statement, String source) {
    if (statement.contains("Timer.builder") || id.equals("keeper.job.duration")) {
      return "timer";
    }
    if (statement.contains("DistributionSummary")) {
      return "summary";
    }
    if (statement.contains("ounter") || statement.contains("String ")) {
      return "counter";
    }
    return "gauge";
  }

  private static String labels(String id, String statement, String source) {
    var labels = new java.util.LinkedHashSet<String>();
    var tags = TAG.matcher(statement);
    while (tags.find()) {
      labels.add("`" + tags.group(1) + "`");
    }
    if (labels.isEmpty()) {
      shared(id, source).forEach(label -> labels.add("`" + label + "`"));
    }
    return labels.isEmpty() ? "–" : String.join(", ", labels);
  }

  /** Returns labels that a helper method of the class adds. */
  private static List<String> shared(String id, String source) {
    if (id.startsWith("keeper.job.")) {
      return List.of("job_name");
    }
    if (id.equals("keeper.active.sessions")) {
      return List.of("bot_name", "ordering_scope");
    }
    if (id.equals("keeper.queue.owned.buckets")) {
      return List.of("queue");
    }
    if (id.startsWith("keeper.queue.")
        && (source.contains("class QueueGauges")
            || source.contains("class CountGauges")
            || source.contains("class LeaseAges"))) {
      return List.of("queue");
    }
    if (source.contains("class BotMeters")) {
      return List.of("bot_name");
    }
    if (source.contains("class GatewayMeters") && !id.startsWith("keeper.webhook")) {
      return id.startsWith("keeper.queue.") ? List.of("bot_name", "queue") : List.of("bot_name");
    }
    return source.contains("class WriterMeters") ? List.of("writer") : List.of();
  }

  private static String exposed(String id, String type, String statement) {
    var name = id.replace('.', '_');
    var seconds =
        type.equals("timer")
            || statement.contains("\"seconds\"")
            || List.of("keeper_job_last_success_age", "keeper_job_interval", "keeper_job_running")
                .contains(name);
    if (seconds && !name.endsWith("_seconds")) {
      name += "_seconds";
    }
    if (statement.contains("baseUnit(\"bytes\")") && !name.endsWith("_bytes")) {
      name += "_bytes";
    }
    return type.equals("counter") && !name.endsWith("_total") ? name + "_total" : name;
  }
}
