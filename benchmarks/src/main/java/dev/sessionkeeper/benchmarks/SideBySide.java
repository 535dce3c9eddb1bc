package dev.sessionkeeper.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Runs contestants in turn, several times; reports median, range, and the ratio of the first to
 * each.
 */
final class SideBySide {
  private final int warmUps;
  private final int repetitions;

  SideBySide(int warmUps, int repetitions) {
    this.warmUps = warmUps;
    this.repetitions = repetitions;
  }

  /** Returns the results of the runs of each contestant. */
  Map<String, List<Took>> run(List<Arm> arms, Arm.Load load) throws Exception {
    var all = new LinkedHashMap<String, List<Took>>();
    for (int i = 0; i < warmUps + repetitions; i++) {
      for (var arm : arms) {
        var took = arm.run(load);
        if (i >= warmUps) {
          all.computeIfAbsent(arm.name(), name -> new ArrayList<>()).add(took);
        }
      }
    }
    return all;
  }

  static String line(String name, List<Took> runs, List<Took> first, int messages) {
    var rates = runs.stream().map(took -> messages / (took.wallNanos() / 1e9)).sorted().toList();
    return String.format(
        Locale.ROOT,
        "  %-24s %,12.0f msg/s [%,.0f .. %,.0f] %8.0f ns of CPU each, %.1f cores;"
            + " the first is %.2f times as fast, %.2f times by CPU%s",
        name,
        rates.get(rates.size() / 2),
        rates.get(0),
        rates.get(rates.size() - 1),
        cpu(runs, messages),
        cpu(runs, messages) / wall(runs, messages),
        wall(runs, messages) / wall(first, messages),
        cpu(runs, messages) / cpu(first, messages),
        perHold(runs, messages).map("; %.1f messages per hold"::formatted).orElse(""));
  }

  /** Returns the median number of messages per hold; empty if there are no holds. */
  static Optional<Double> perHold(List<Took> runs, int messages) {
    long holds = runs.stream().map(Took::holds).sorted().toList().get(runs.size() / 2);
    return holds == 0 ? Optional.empty() : Optional.of((double) messages / holds);
  }

  /** Returns the median wall-clock nanoseconds per message. */
  static double wall(List<Took> runs, int messages) {
    return (double) runs.stream().map(Took::wallNanos).sorted().toList().get(runs.size() / 2)
        / messages;
  }

  /** Returns the median processor nanoseconds per message, over all processors. */
  static double cpu(List<Took> runs, int messages) {
    return (double) runs.stream().map(Took::cpuNanos).sorted().toList().get(runs.size() / 2)
        / messages;
  }
}
