package dev.sessionkeeper.benchmarks.postgres;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Median and range of what was measured several times. */
public record Runs(double median, double least, double most) {
  public static Runs of(List<Double> values) {
    var sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    return new Runs(sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1]);
  }

  /** As thousands. */
  public String thousands() {
    return String.format(
        Locale.ROOT, "%.1fk [%.1f..%.1f]", median / 1000, least / 1000, most / 1000);
  }

  /** As it is. */
  public String plain() {
    return String.format(Locale.ROOT, "%.2f [%.2f..%.2f]", median, least, most);
  }
}
