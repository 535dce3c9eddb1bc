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

  /** A result, and the commit it was got on. */
  private record OnCommit(String commit, Result result) {}

  /** Returns the results of a row on the commit on which it ran last, oldest first. */
  private List<OnCommit> lastOf(Row row) throws IOException {
    var found = new ArrayList<OnCommit>();
    if (!Files.exists(file)) {
      return found;
    }
    for (var line : Files.readAllLines(file)) {
      var node = JSON.readTree(line);
      if (node.path("row").asString().equals(row.name())) {
        var verdict = Verdict.valueOf(node.path("verdict").asString());
        var result =
            new Result(
                row,
                new Seen(verdict, node.path("seen").asString()),
                Duration.ofMillis(node.path("millis").asLong()));
        found.add(new OnCommit(node.path("commit").asString(), result));
      }
    }
    if (!found.isEmpty()) {
      var last = found.getLast().commit();
      found.removeIf(each -> !each.commit().equals(last));
    }
    return found;
  }

  /** Returns the outcome in one line. */
  String summary(List<Row> rows) throws IOException {
    int kept = 0;
    int skipped = 0;
    int missing = 0;
    int runs = 0;
    for (var row : rows) {
      var results = lastOf(row);
      runs += results.size();
      missing += results.isEmpty() ? 1 : 0;
      kept +=
          !results.isEmpty() && results.stream().allMatch(each -> each.result().isKept()) ? 1 : 0;
      skipped +=
          results.stream().anyMatch(each -> each.result().seen().verdict() == Verdict.SKIPPED)
              ? 1
              : 0;
    }
    return String.format(
        Locale.ROOT,
        "%d of %d rows were kept in every run, %d were broken, %d skipped, %d did not run; %d runs"
            + " in all.",
        kept,
        rows.size(),
        rows.size() - kept - skipped - missing,
        skipped,
        missing,
        runs);
  }

  /** Returns a table with the last outcome of each row, how often it was kept, and where. */
  String table(List<Row> rows) throws IOException {
    var text =
        new StringBuilder(
            "| row | fault | expected | seen in the last run | kept | on commit | seconds |\n");
    text.append("|---|---|---|---|---|---|---|\n");
    for (var row : rows) {
      var results = lastOf(row);
      long kept = results.stream().filter(each -> each.result().isKept()).count();
      text.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %s | %s | %s | %s | %s |%n",
              row.name(),
              row.fault(),
              row.expected(),
              results.isEmpty() ? "did not run" : cell(results.getLast().result().seen()),
              kept + " of " + results.size(),
              results.isEmpty() ? "" : results.getLast().commit(),
              results.isEmpty()
                  ? ""
                  : Long.toString(results.getLast().result().took().toSeconds())));
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
