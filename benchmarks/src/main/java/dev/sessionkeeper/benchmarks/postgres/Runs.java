package dev.sessionkeeper.benchmarks.postgres;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Median and range of repeated measurements. */
public record Runs(double median, double least, double most) {
  public static Runs of(List<Double> values) {
    var sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    return new Runs(sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1]);
  }

  /** Returns the second result divided by the first, turn by turn. */
  static <R> List<Double> ratios(List<R> base, List<R> other, ToDoubleFunction<R> value) {
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < base.size(); i++) {
      ratios.add(value.applyAsDouble(other.get(i)) / value.applyAsDouble(base.get(i)));
    }
    return ratios;
  }

  /** Returns the value in thousands. */
  public String thousands() {
    return String.format(
        Locale.ROOT, "%.1fk [%.1f..%.1f]", median / 1000, least / 1000, most / 1000);
  }

  /** Returns the value unchanged. */
  public String plain() {
    return String.format(Locale.ROOT, "%.2f [%.2f..%.2f]", median, least, most);
  }
}
