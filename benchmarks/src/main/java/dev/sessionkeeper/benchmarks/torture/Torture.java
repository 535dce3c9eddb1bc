package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.benchmarks.proof.Proof;
import dev.sessionkeeper.benchmarks.torture.Results.Result;
import dev.sessionkeeper.benchmarks.torture.Row.Verdict;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.node.JsonNodeFactory;

/** Runs the fault matrix; {@code --help} describes the options. */
public final class Torture {
  private static final String HELP =
      """
      Usage: keeper torture [--row ROW[,ROW...]] [--quick] [--times N] [--seed N] [-o text|json]
                            [--folder FOLDER] [--proof FILE] [--list]

      Does every fault of the matrix to real processes and judges what is left. Needs a checkout,
      Maven and Linux; full-disk needs root, clock-jumps needs libfaketime.

        --row ROW       these rows, separated by commas
        --quick         the rows that take less than a minute together
        --times N       the whole matrix N times, or until a row is broken. Default: 1
        --seed N        the choice of faults and victims. Default: 1, and one more each time
        -o, --output    text or json. Default: text
        --folder F      where logs and journals go. Default: a temporary folder
        --proof FILE    also write a page with the last results of all rows
        --list          the rows with fault and expected outcome

      Exit codes: 0 every row was kept or skipped, 1 a row was broken, 2 the command line is wrong.
      """;

  private final PrintStream out;
  private final PrintStream progress;
  private final Results recorded;

  Torture(PrintStream out, PrintStream progress, Results recorded) {
    this.out = out;
    this.progress = progress;
    this.recorded = recorded;
  }

  public static void main(String[] arguments) throws Exception {
    var recorded = new Results(checkout().resolve("benchmarks/target/torture/results.ndjson"));
    System.exit(new Torture(System.out, System.err, recorded).run(arguments));
  }

  /** The options of the command line. */
  private static final class Asked {
    private List<Row> rows = Matrix.all();
    private int times = 1;
    private long seed = 1;
    private boolean isJson;
    private boolean isList;
    private boolean isHelp;
    private Optional<Path> folder = Optional.empty();
    private Optional<Path> proof = Optional.empty();

    static Asked parse(String... arguments) {
      var asked = new Asked();
      for (int i = 0; i < arguments.length; i++) {
        switch (arguments[i]) {
          case "--help", "-h" -> asked.isHelp = true;
          case "--list" -> asked.isList = true;
          case "--quick" -> asked.rows = Matrix.all().stream().filter(Row::isQuick).toList();
          case "--row" -> asked.rows = named(value(arguments, ++i));
          case "--times" -> asked.times = Integer.parseInt(value(arguments, ++i));
          case "--seed" -> asked.seed = Long.parseLong(value(arguments, ++i));
          case "--folder" -> asked.folder = Optional.of(Path.of(value(arguments, ++i)));
          case "--proof" -> asked.proof = Optional.of(Path.of(value(arguments, ++i)));
          case "-o", "--output" ->
              asked.isJson =
                  switch (value(arguments, ++i)) {
                    case "json" -> true;
                    case "text" -> false;
                    default -> throw new IllegalArgumentException("--output must be text or json");
                  };
          default -> throw new IllegalArgumentException("Unknown option: " + arguments[i]);
        }
      }
      return asked;
    }

    private static String value(String[] arguments, int at) {
      if (at >= arguments.length) {
        throw new IllegalArgumentException("Option " + arguments[at - 1] + " has no value");
      }
      return arguments[at];
    }

    private static List<Row> named(String names) {
      var rows = new ArrayList<Row>();
      for (var name : names.split(",", -1)) {
        rows.add(
            Row.named(name, Matrix.all())
                .orElseThrow(
                    () ->
                        new IllegalArgumentException(
                            "No row is named \"" + name + "\"; keeper torture --list has them")));
      }
      return rows;
    }
  }

  int run(String... arguments) throws Exception {
    Asked asked;
    try {
      asked = Asked.parse(arguments);
    } catch (IllegalArgumentException e) {
      progress.println(e.getMessage());
      return 2;
    }
    if (asked.isHelp) {
      out.print(HELP);
      return 0;
    }
    if (asked.isList) {
      Matrix.all()
          .forEach(row -> out.println(row.name() + ": " + row.fault() + " -> " + row.expected()));
      return 0;
    }
    var results = new ArrayList<Result>();
    int green = 0;
    for (int time = 0; time < asked.times && green == time; time++) {
      long began = System.nanoTime();
      var folder =
          asked.folder.isPresent()
              ? newFolder(asked.folder.get().toAbsolutePath())
              : Files.createTempDirectory("keeper-torture-");
      var once = once(asked.rows, new RunRow(folder, asked.seed + time));
      results.addAll(once);
      green += once.stream().anyMatch(Result::isBroken) ? 0 : 1;
      if (!asked.isJson) {
        out.println(table(once));
        out.println(
            green + " of " + (time + 1) + " times without a broken row, in " + since(began) + ".");
      }
    }
    if (asked.isJson) {
      out.println(json(results, green));
    }
    if (asked.proof.isPresent()) {
      Proof.write(
          asked.proof.get(),
          "Fault matrix",
          "keeper torture",
          recorded.summary(Matrix.all()),
          recorded.table(Matrix.all()));
    }
    return results.stream().anyMatch(Result::isBroken) ? 1 : 0;
  }

  /** Returns the first numbered folder that does not exist: journals of two runs do not mix. */
  private static Path newFolder(Path parent) throws IOException {
    int number = 0;
    while (Files.exists(parent.resolve("" + number))) {
      number++;
    }
    return Files.createDirectories(parent.resolve("" + number));
  }

  private List<Result> once(List<Row> rows, RunRow runner)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    var commit = Proof.commit();
    progress.println("Logs and journals are in " + runner.folder());
    var tested = rows.stream().filter(row -> row.proof() instanceof Row.Tests).toList();
    var outcomes = Map.<String, RunTests.Outcome>of();
    if (!tested.isEmpty()) {
      progress.println("Tests of " + tested.size() + " rows, with Maven");
      var log = runner.folder().resolve("tests.log");
      outcomes = new RunTests(checkout(), log, progress).run(tested);
    }
    var results = new ArrayList<Result>();
    for (var row : rows) {
      progress.println(
          since(began) + "  " + (results.size() + 1) + " of " + rows.size() + ": " + row.name());
      var outcome = outcomes.get(row.name());
      var result =
          outcome == null ? timed(row, runner) : new Result(row, outcome.seen(), outcome.took());
      progress.println("  " + word(result.seen().verdict()) + ": " + result.seen().what());
      recorded.add(commit, result);
      results.add(result);
    }
    return results;
  }

  /** Returns the time since a moment, in minutes and seconds. */
  private static String since(long began) {
    var time = Duration.ofNanos(System.nanoTime() - began);
    return String.format(Locale.ROOT, "%d:%02d", time.toMinutes(), time.toSecondsPart());
  }

  private static Result timed(Row row, RunRow runner) throws InterruptedException {
    long began = System.nanoTime();
    var seen = runner.run(row);
    return new Result(row, seen, Duration.ofNanos(System.nanoTime() - began));
  }

  /** Returns the folder of the checkout, where the command runs; tests run in a module of it. */
  private static Path checkout() {
    var here = Path.of("").toAbsolutePath();
    return Files.exists(here.resolve("keeper")) ? here : Objects.requireNonNull(here.getParent());
  }

  private static String word(Verdict verdict) {
    return verdict.name().toLowerCase(Locale.ROOT);
  }

  private static String table(List<Result> results) {
    var text = new StringBuilder("| row | fault | expected | seen | verdict | seconds |\n");
    text.append("|---|---|---|---|---|---|\n");
    for (var result : results) {
      var row = result.row();
      text.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %s | %s | %s | %d |%n",
              row.name(),
              row.fault(),
              row.expected(),
              result.seen().what().replace('|', '/'),
              result.isBroken() ? "**broken**" : word(result.seen().verdict()),
              result.took().toSeconds()));
    }
    return text.toString();
  }

  private static String json(List<Result> results, int green) {
    var node = JsonNodeFactory.instance.objectNode();
    node.put("timesGreen", green);
    var rows = node.putArray("rows");
    for (var result : results) {
      var row = rows.addObject();
      row.put("row", result.row().name());
      row.put("fault", result.row().fault());
      row.put("expected", result.row().expected());
      row.put("seen", result.seen().what());
      row.put("verdict", word(result.seen().verdict()));
      row.put("seconds", result.took().toSeconds());
    }
    return node.toPrettyString();
  }
}
