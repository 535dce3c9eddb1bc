package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import dev.sessionkeeper.benchmarks.torture.Row.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The results of all runs in a checkout, one line of JSON for each run of a row. The proof is
 * written from them, because the rows of one commit may run at different times.
 */
record Results(Path file) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** A row, its outcome, and the time it took. */
  record Result(Row row, Seen seen, Duration took) {
    boolean isBroken() {
      return seen.verdict() == Verdict.BROKEN;
    }

    boolean isKept() {
      return seen.verdict() == Verdict.KEPT;
    }
  }

  void add(String commit, Result result) throws IOException {
    var node = JsonNodeFactory.instance.objectNode();
    node.put("row", result.row().name());
    node.put("commit", commit);
    node.put("verdict", result.seen().verdict().name());
    node.put("seen", result.seen().what());
    node.put("millis", result.took().toMillis());
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, node + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Returns the results of a row on a commit, oldest first. */
  List<Result> of(String commit, Row row) throws IOException {
    var found = new ArrayList<Result>();
    if (!Files.exists(file)) {
      return found;
    }
    for (var line : Files.readAllLines(file)) {
      var node = JSON.readTree(line);
      if (node.path("row").asString().equals(row.name())
          && node.path("commit").asString().equals(commit)) {
        var verdict = Verdict.valueOf(node.path("verdict").asString());
        found.add(
            new Result(
                row,
                new Seen(verdict, node.path("seen").asString()),
                Duration.ofMillis(node.path("millis").asLong())));
      }
    }
    return found;
  }

  /** Returns the outcome in one line: how many rows ran on this commit, and how often. */
  String summary(String commit, List<Row> rows) throws IOException {
    int complete = Integer.MAX_VALUE;
    int runs = 0;
    int broken = 0;
    int skipped = 0;
    int missing = 0;
    for (var row : rows) {
      var results = of(commit, row);
      runs += results.size();
      broken += (int) results.stream().filter(Result::isBroken).count();
      skipped +=
          results.stream().anyMatch(each -> each.seen().verdict() == Verdict.SKIPPED) ? 1 : 0;
      missing += results.isEmpty() ? 1 : 0;
      complete = Math.min(complete, results.size());
    }
    return String.format(
        Locale.ROOT,
        "%d rows, each of them at least %d times, %d runs in all: %d runs were broken, %d rows"
            + " skipped, %d rows did not run on this commit.",
        rows.size(),
        rows.isEmpty() ? 0 : complete,
        runs,
        broken,
        skipped,
        missing);
  }

  /** Returns a table with the last outcome of each row, and how often the row was kept. */
  String table(String commit, List<Row> rows) throws IOException {
    var text =
        new StringBuilder("| row | fault | expected | seen in the last run | kept | seconds |\n");
    text.append("|---|---|---|---|---|---|\n");
    for (var row : rows) {
      var results = of(commit, row);
      long kept = results.stream().filter(Result::isKept).count();
      text.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %s | %s | %s | %s |%n",
              row.name(),
              row.fault(),
              row.expected(),
              results.isEmpty() ? "did not run" : cell(results.getLast().seen()),
              kept + " of " + results.size(),
              results.isEmpty() ? "" : Long.toString(results.getLast().took().toSeconds())));
    }
    return text.toString();
  }

  private static String cell(Seen seen) {
    var what = seen.what().replace('|', '/');
    return switch (seen.verdict()) {
      case KEPT -> what;
      case BROKEN -> "**broken**: " + what;
      case SKIPPED -> "skipped: " + what;
    };
  }
}
