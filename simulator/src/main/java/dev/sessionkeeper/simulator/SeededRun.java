package dev.sessionkeeper.simulator;

import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * One run: what, with which seed, with which planted bug, and without which steps of its plan. The
 * same value is the same run, step by step.
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

  /** Runs a seed of the product as it is. */
  public static SeededRun of(Subject subject, long seed) {
    return new SeededRun(subject, seed, Optional.empty(), List.of());
  }

  /** The same with a bug planted. */
  public SeededRun with(String planted) {
    return new SeededRun(subject, seed, Optional.of(planted), skipped);
  }

  private SeededRun without(List<Integer> steps) {
    return new SeededRun(subject, seed, bug, steps);
  }

  /** Runs it and keeps no trace. */
  public SimulationReport run() {
    return run(false);
  }

  /** Runs it and keeps what happened, line by line. */
  public SimulationReport runWithTrace() {
    return run(true);
  }

  private SimulationReport run(boolean keepsTrace) {
    var bits = new BitSet();
    skipped.forEach(bits::set);
    return subject.run(seed, bug, keepsTrace, bits);
  }

  /**
   * Leaves out as many steps as possible while the same invariant breaks: first halves of the plan,
   * then smaller parts, in the end single steps.
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
