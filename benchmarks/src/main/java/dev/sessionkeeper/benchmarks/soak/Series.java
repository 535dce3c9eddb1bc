package dev.sessionkeeper.benchmarks.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One figure over the time of a run, and how far it may move.
 *
 * @param name the figure with its unit
 * @param part how much it may grow from the first to the last judged value, as a part of its mean
 * @param slack additional allowed growth, in its unit
 * @param mayFall whether only growth is judged
 */
record Series(String name, double part, double slack, boolean mayFall, List<Double> values) {
  /** The divisor of the warm-up: the first third of the run. */
  private static final int WARM_UP = 3;

  private static final int FEWEST = 6;

  Series(String name, double part, double slack, boolean mayFall) {
    this(name, part, slack, mayFall, new ArrayList<>());
  }

  void add(double value) {
    values.add(value);
  }

  /** Returns how much the regression line of the judged values rises from first to last. */
  double growth() {
    var judged = judged();
    int n = judged.size();
    double middle = (n - 1) / 2.0;
    double mean = mean();
    double above = 0;
    double below = 0;
    for (int i = 0; i < n; i++) {
      above += (i - middle) * (judged.get(i) - mean);
      below += (i - middle) * (i - middle);
    }
    return below == 0 ? 0 : above / below * (n - 1);
  }

  double mean() {
    return judged().stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  double allowed() {
    return part * Math.abs(mean()) + slack;
  }

  /** Returns whether the figure stayed within its bound; too few values prove nothing. */
  boolean isFlat() {
    double growth = growth();
    return judged().size() >= FEWEST && growth <= allowed() && (mayFall || growth >= -allowed());
  }

  private List<Double> judged() {
    return values.subList(values.size() / WARM_UP, values.size());
  }

  String row() {
    return String.format(
        Locale.ROOT,
        "| %s | %,.1f | %+,.1f | %,.1f | %s |",
        name,
        mean(),
        growth(),
        allowed(),
        isFlat() ? "flat" : "**not flat**");
  }
}
