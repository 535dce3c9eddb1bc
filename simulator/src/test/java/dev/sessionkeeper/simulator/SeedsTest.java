package dev.sessionkeeper.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class SeedsTest {
  private static final int FEW = 150;
  static final int MANY = Integer.getInteger("simulated.seeds", 400);

  /** The most seeds that may be needed to find a planted bug. */
  private static final int UNTIL_FOUND = 1000;

  @ParameterizedTest
  @EnumSource
  void seedsFindNothing(Subject subject) {
    assertThat(failures(subject, FEW)).isEmpty();
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void manySeedsFindNothing(Subject subject) {
    long began = System.nanoTime();
    var failures = failures(subject, MANY);
    WriteProof.seeds(subject, MANY, failures, Duration.ofNanos(System.nanoTime() - began));
    assertThat(failures).isEmpty();
  }

  @AfterAll
  static void writeProof() throws Exception {
    WriteProof.write();
  }

  /** Seeds are independent runs, so each core takes a part. */
  private static List<String> failures(Subject subject, int seeds) {
    var next = new AtomicLong();
    var failures = new ArrayList<String>();
    int cores = Runtime.getRuntime().availableProcessors();
    try (var threads = Executors.newFixedThreadPool(cores)) {
      for (int i = 0; i < cores; i++) {
        threads.execute(() -> runUpTo(subject, seeds, next, failures));
      }
    }
    return failures;
  }

  private static void runUpTo(Subject subject, int seeds, AtomicLong next, List<String> failures) {
    for (long seed = next.incrementAndGet(); seed <= seeds; seed = next.incrementAndGet()) {
      var text = failureOf(subject, seed);
      if (text.isPresent()) {
        synchronized (failures) {
          failures.add(text.get());
        }
      }
    }
  }

  private static Optional<String> failureOf(Subject subject, long seed) {
    try {
      var violations = SeededRun.of(subject, seed).run().violations();
      return violations.isEmpty()
          ? Optional.empty()
          : Optional.of("seed " + seed + ": " + violations.get(0));
    } catch (RuntimeException e) {
      return Optional.of("seed " + seed + ": " + e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theSameSeedIsTheSameRunAndAnotherSeedIsNot(Subject subject) {
    for (long seed = 1; seed <= 20; seed++) {
      assertThat(SeededRun.of(subject, seed).run()).isEqualTo(SeededRun.of(subject, seed).run());
    }
    assertThat(SeededRun.of(subject, 1).run().fingerprint())
        .isNotEqualTo(SeededRun.of(subject, 2).run().fingerprint());
  }

  static Stream<Arguments> planted() {
    return Stream.of(Subject.values())
        .flatMap(subject -> subject.bugs().stream().map(bug -> Arguments.of(subject, bug)));
  }

  @ParameterizedTest
  @MethodSource("planted")
  void aPlantedBugIsFound(Subject subject, String bug) {
    for (long seed = 1; seed <= UNTIL_FOUND; seed++) {
      var violations = SeededRun.of(subject, seed).with(bug).run().violations();
      if (!violations.isEmpty()) {
        assertThat(SeededRun.of(subject, seed).run().violations())
            .as("seed %d without the bug", seed)
            .isEmpty();
        WriteProof.found(subject, bug, seed, violations.get(0).invariant());
        return;
      }
    }
    WriteProof.notFound();
    throw new AssertionError(UNTIL_FOUND + " seeds did not find " + bug);
  }

  @Test
  void aFailingPlanIsCutDownToWhatItNeeds() {
    for (long seed = 1; seed <= UNTIL_FOUND; seed++) {
      var run = SeededRun.of(Subject.NODES, seed).with("retry-to-tail");
      var report = run.run();
      if (!report.violations().isEmpty()) {
        var shortest = run.shrunk();
        var again = shortest.runWithTrace();
        assertThat(again.violations()).isNotEmpty();
        assertThat(again.violations().get(0).invariant())
            .isEqualTo(report.violations().get(0).invariant());
        assertThat(report.plan().size() - shortest.skipped().size()).isLessThanOrEqualTo(3);
        assertThat(again.trace()).anyMatch(line -> line.contains("settle"));
        return;
      }
    }
    throw new AssertionError("nothing was found to cut down");
  }

  @Test
  void aBugThatDoesNotExistIsRefused() {
    assertThatThrownBy(() -> SeededRun.of(Subject.NODES, 1).with("nonsense"))
        .hasMessage("There is no bug nonsense to plant into nodes");
  }

  @Test
  void virtualTimePassesWithoutRealTime() {
    long began = System.nanoTime();
    var report = SeededRun.of(Subject.NODES, 1).run();
    assertThat(report.simulated()).isGreaterThan(Duration.ofNanos(System.nanoTime() - began));
  }
}
