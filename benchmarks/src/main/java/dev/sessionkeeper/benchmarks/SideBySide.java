package dev.sessionkeeper.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs arms in turn, several times, and reports median, range and the ratio to the first. */
final class SideBySide {
  private static final Logger log = LoggerFactory.getLogger(SideBySide.class);

  private final int warmUps;
  private final int repetitions;

  SideBySide(int warmUps, int repetitions) {
    this.warmUps = warmUps;
    this.repetitions = repetitions;
  }

  /** Messages per second of each arm, sorted. */
  Map<String, List<Double>> run(List<Arm> arms, Arm.Load load) throws Exception {
    var rates = new LinkedHashMap<String, List<Double>>();
    for (int i = 0; i < warmUps + repetitions; i++) {
      for (var arm : arms) {
        System.gc();
        double rate = load.messages() / (arm.run(load) / 1e9);
        log.debug("{} {} {}", arm.name(), load, rate);
        if (i >= warmUps) {
          rates.computeIfAbsent(arm.name(), name -> new ArrayList<>()).add(rate);
        }
      }
    }
    rates.values().forEach(Collections::sort);
    return rates;
  }

  static double median(List<Double> sorted) {
    return sorted.get(sorted.size() / 2);
  }

  static String line(String name, List<Double> sorted, double first) {
    return String.format(
        Locale.ROOT,
        "  %-28s %,12.0f msg/s  [%,.0f .. %,.0f]  ratio of the first to it %.2f",
        name,
        median(sorted),
        sorted.get(0),
        sorted.get(sorted.size() - 1),
        first / median(sorted));
  }
}
