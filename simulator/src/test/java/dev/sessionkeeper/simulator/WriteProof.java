package dev.sessionkeeper.simulator;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Writes the page that reports which subjects were simulated, with how many seeds, on which commit,
 * and the results.
 */
final class WriteProof {
  private static final Map<String, String> SEEDS = new ConcurrentSkipListMap<>();
  private static final Map<String, String> BUGS = new ConcurrentSkipListMap<>();

  private static final LongAdder SEEDS_RUN = new LongAdder();
  private static final LongAdder FAILURES = new LongAdder();
  private static final LongAdder NOT_FOUND = new LongAdder();
  private static final String COMMAND =
      "mvn -pl simulator -am test -Dtest=SeedsTest -Dsurefire.failIfNoSpecifiedTests=false"
          + " -Dsimulated.seeds="
          + SeedsTest.MANY
          + " -Dproof.write=true";

  private WriteProof() {}

  static void seeds(Subject subject, int seeds, Collection<String> failures, Duration took) {
    SEEDS_RUN.add(seeds);
    FAILURES.add(failures.size());
    SEEDS.put(
        subject.text(),
        String.format(
            Locale.ROOT,
            "| %s | %s | %,d | %d | %d s |",
            subject.text(),
            subject.description(),
            seeds,
            failures.size(),
            took.toSeconds()));
  }

  static void found(Subject subject, String bug, long seed, String violation) {
    BUGS.put(
        subject.text() + " " + bug,
        String.format(Locale.ROOT, "| %s | %s | %d | %s |", subject.text(), bug, seed, violation));
  }

  static void notFound() {
    NOT_FOUND.increment();
  }

  /** Writes below target, and into the documentation if {@code proof.write} is set. */
  static void write() throws IOException, InterruptedException {
    if (SEEDS.isEmpty() && BUGS.isEmpty()) {
      return;
    }
    Files.createDirectories(Path.of("target"));
    Files.writeString(Path.of("target", "proof-simulator.md"), text());
    if (Boolean.getBoolean("proof.write")) {
      var page = Path.of("..", "docs", "reference", "proof", "simulator.md");
      Files.createDirectories(page.getParent());
      Files.writeString(page, text());
    }
  }

  private static String text() throws IOException, InterruptedException {
    return """
    # Simulations
    Written by `%s` on %s, on commit `%s`, with Java %d on %d processors.

    %s

    To look at one seed: `keeper simulate nodes --seed 7 --trace`.

    ## Seeds

    | what | contents | seeds | broke an invariant | took |
    |---|---|---|---|---|
    %s

    ## Planted bugs

    Each one is planted alone. A run counts as soon as an invariant breaks.

    | what | bug | found by seed | with |
    |---|---|---|---|
    %s
    """
        .formatted(
            COMMAND,
            LocalDate.now(ZoneOffset.UTC),
            commit(),
            Runtime.version().feature(),
            Runtime.getRuntime().availableProcessors(),
            summary(),
            String.join("\n", SEEDS.values()),
            String.join("\n", BUGS.values()));
  }

  private static String summary() {
    return String.format(
        Locale.ROOT,
        "%,d seeds broke an invariant %,d times; %d of %d planted bugs were found.",
        SEEDS_RUN.sum(),
        FAILURES.sum(),
        BUGS.size(),
        BUGS.size() + NOT_FOUND.sum());
  }

  private static String commit() throws IOException, InterruptedException {
    var git = new ProcessBuilder("git", "describe", "--always", "--dirty", "--abbrev=12").start();
    var text = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    return git.waitFor() == 0 ? text : "unknown";
  }
}
