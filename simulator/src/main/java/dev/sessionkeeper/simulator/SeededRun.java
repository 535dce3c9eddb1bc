package dev.sessionkeeper.simulator;

import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * One run: its subject, seed, planted bug and skipped steps. The same value is the same run, step
 * by step.
 *
 * @param bug a name out of {@link Subject#bugs}
 * @param skipped the numbers of steps that are left out
 */
public record SeededRun(Subject subject, long seed, Optional<String> bug, List<Integer> skipped) {
  public SeededRun {
    skipped = List.copyOf(skipped);
    bug.ifPresent(
        name -> {
          if (!subject.bugs().contains(name)) {
            throw new IllegalArgumentException(
                "There is no bug " + name + " to plant into " + subject.text());
          }
        });
  }

  /** Returns a run of the unmodified product with this seed. */
  public static SeededRun of(Subject subject, long seed) {
    return new SeededRun(subject, seed, Optional.empty(), List.of());
  }

  /** Returns the same run with a planted bug. */
  public SeededRun with(String planted) {
    return new SeededRun(subject, seed, Optional.of(planted), skipped);
  }

  private SeededRun without(List<Integer> steps) {
    return new SeededRun(subject, seed, bug, steps);
  }

  /** Executes the run without a trace. */
  public SimulationReport run() {
    return run(false);
  }

  /** Executes the run and records a trace of its events. */
  public SimulationReport runWithTrace() {
    return run(true);
  }

  private SimulationReport run(boolean keepsTrace) {
    var bits = new BitSet();
    skipped.forEach(bits::set);
    return subject.run(seed, bug, keepsTrace, bits);
  }

  /**
   * Returns a run with as few steps as possible that breaks the same invariant: first leaves out
   * halves of the plan, then smaller parts, finally single steps.
   */
  public SeededRun shrunk() {
    var first = run();
    if (first.violations().isEmpty()) {
      return this;
    }
    var invariant = first.violations().get(0).invariant();
    var best = this;
    int all = first.plan().size();
    for (int size = Math.max(1, all / 2); size >= 1; size /= 2) {
      for (int from = 0; from < all; from += size) {
        var fewer = best.without(with(best.skipped, from, Math.min(all, from + size)));
        if (!fewer.equals(best) && fewer.breaks(invariant)) {
          best = fewer;
        }
      }
    }
    return best;
  }

  private boolean breaks(String invariant) {
    var violations = run().violations();
    return !violations.isEmpty() && violations.get(0).invariant().equals(invariant);
  }

  private static List<Integer> with(List<Integer> before, int from, int to) {
    return IntStream.concat(before.stream().mapToInt(Integer::intValue), IntStream.range(from, to))
        .distinct()
        .sorted()
        .boxed()
        .toList();
  }
}
