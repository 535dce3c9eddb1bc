package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import dev.sessionkeeper.benchmarks.torture.Row.Tests;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Runs the test classes of several rows with one call of Maven, and reads their reports.
 *
 * @param checkout the folder of the sources
 * @param log what Maven prints
 * @param progress receives the name of each test class that begins
 */
record RunTests(Path checkout, Path log, PrintStream progress) {
  private static final Duration PATIENCE = Duration.ofMinutes(15);

  /** A process that a test left behind may keep the output open. */
  private static final Duration END_OF_OUTPUT = Duration.ofSeconds(5);

  private static final Pattern BEGINS = Pattern.compile("Running (\\S+Test)$");
  private static final Pattern SUITE = Pattern.compile("<testsuite\\b[^>]*>", Pattern.DOTALL);

  /** The result of a row's tests, and their duration. */
  record Outcome(Seen seen, Duration took) {}

  /** The sums of some reports. */
  private record Sums(int tests, int failed, int skipped, double seconds) {
    static final Sums NONE = new Sums(0, 0, 0, 0);

    Sums plus(Sums other) {
      return new Sums(
          tests + other.tests,
          failed + other.failed,
          skipped + other.skipped,
          seconds + other.seconds);
    }
  }

  /** Returns the outcome of each row, by the name of the row. */
  Map<String, Outcome> run(List<Row> rows) throws IOException, InterruptedException {
    var modules = new ArrayList<String>();
    var classes = new ArrayList<String>();
    for (var row : rows) {
      var tests = testsOf(row);
      modules.add(tests.module());
      classes.add(tests.classes());
      for (var name : tests.classes().split(",", -1)) {
        for (var report : reports(tests.module(), name)) {
          Files.delete(report); // A report of an earlier run proves nothing.
        }
      }
    }
    call(
        List.of(
            "mvn",
            "-B",
            "-ntp",
            "-Dfast",
            "-pl",
            String.join(",", modules.stream().distinct().toList()),
            "-am",
            "test",
            "-Dtest=" + String.join(",", classes),
            "-Dsurefire.failIfNoSpecifiedTests=false",
            "-Dmaven.test.failure.ignore=true"));
    return judge(rows);
  }

  /** Returns the results according to the reports. */
  Map<String, Outcome> judge(List<Row> rows) throws IOException {
    var outcomes = new LinkedHashMap<String, Outcome>();
    for (var row : rows) {
      outcomes.put(row.name(), outcomeOf(testsOf(row)));
    }
    return outcomes;
  }

  private static Tests testsOf(Row row) {
    if (row.proof() instanceof Tests tests) {
      return tests;
    }
    throw new IllegalArgumentException(row.name() + " has no tests");
  }

  private Outcome outcomeOf(Tests tests) throws IOException {
    var sums = Sums.NONE;
    var silent = new ArrayList<String>();
    for (var name : tests.classes().split(",", -1)) {
      var found = Sums.NONE;
      for (var report : reports(tests.module(), name)) {
        found = found.plus(sumsOf(Files.readString(report)));
      }
      if (found.tests() == found.skipped()) {
        silent.add(name);
      }
      sums = sums.plus(found);
    }
    var took = Duration.ofMillis((long) (sums.seconds() * 1000));
    var what =
        sums.tests() + " tests" + (sums.skipped() == 0 ? "" : ", " + sums.skipped() + " skipped");
    if (!silent.isEmpty()) {
      return new Outcome(
          Seen.broken("no test ran in " + String.join(", ", silent) + "; see " + log), took);
    }
    return new Outcome(
        sums.failed() == 0
            ? Seen.kept(what)
            : Seen.broken(sums.failed() + " of " + what + " failed; see " + log),
        took);
  }

  /** Returns the reports of a class; its package is not known. */
  private List<Path> reports(String module, String name) throws IOException {
    var folder = checkout.resolve(module).resolve("target").resolve("surefire-reports");
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (var files = Files.list(folder)) {
      return files
          .filter(
              file -> {
                var text = file.getFileName().toString();
                return text.startsWith("TEST-") && text.endsWith("." + name + ".xml");
              })
          .toList();
    }
  }

  private static Sums sumsOf(String report) throws IOException {
    var suite = SUITE.matcher(report);
    if (!suite.find()) {
      throw new IOException("A test report has no testsuite");
    }
    var head = suite.group();
    return new Sums(
        (int) number(head, "tests"),
        (int) (number(head, "failures") + number(head, "errors")),
        (int) number(head, "skipped"),
        number(head, "time"));
  }

  private static double number(String head, String name) throws IOException {
    var value = Pattern.compile("\\b" + name + "=\"([0-9.,]+)\"").matcher(head);
    if (!value.find()) {
      throw new IOException("A test report has no number of " + name);
    }
    return Double.parseDouble(value.group(1).replace(",", ""));
  }

  private void call(List<String> command) throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(command).directory(checkout.toFile()).redirectErrorStream(true).start();
    try {
      var copying = Thread.ofVirtual().start(() -> copyOutput(process));
      if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException("The tests did not end within " + PATIENCE + "; see " + log);
      }
      copying.join(END_OF_OUTPUT);
    } finally {
      process.destroy();
    }
  }

  private void copyOutput(Process process) {
    try (var lines = process.inputReader();
        var file = Files.newBufferedWriter(log)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        file.write(line);
        file.newLine();
        var begins = BEGINS.matcher(line);
        if (begins.find()) {
          progress.println("  " + begins.group(1).replaceAll(".*\\.", ""));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The log of the tests cannot be written", e);
    }
  }
}
