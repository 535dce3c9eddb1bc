package dev.sessionkeeper.benchmarks.postgres;

import java.util.List;
import java.util.Locale;

/**
 * One figure of a measurement.
 *
 * @param unit blank for ratios
 * @param goal blank if there is none
 * @param note further observations
 */
record Row(String cell, String measure, Runs runs, String unit, String goal, String note) {

  static Row of(String cell, String measure, List<Double> values, String unit) {
    return new Row(cell, measure, Runs.of(values), unit, "", "");
  }

  Row withGoal(String wanted) {
    return new Row(cell, measure, runs, unit, wanted, note);
  }

  Row withNote(String seen) {
    return new Row(cell, measure, runs, unit, goal, seen);
  }

  String value() {
    return unit.equals("msg/s") ? runs.thousands() : runs.plain();
  }

  String markdown() {
    return "| "
        + String.join(
            " | ", cell, measure, value() + (unit.isBlank() ? "" : " " + unit), goal, note)
        + " |";
  }

  String json() {
    return String.format(
        Locale.ROOT,
        "{\"cell\": \"%s\", \"measure\": \"%s\", \"unit\": \"%s\", \"median\": %s, \"least\": %s,"
            + " \"most\": %s, \"goal\": \"%s\", \"note\": \"%s\"}",
        cell,
        measure,
        unit,
        number(runs.median()),
        number(runs.least()),
        number(runs.most()),
        goal,
        note);
  }

  /** Formats a number; NaN and infinity, which JSON does not have, become null. */
  private static String number(double value) {
    return Double.isFinite(value) ? Double.toString(value) : "null";
  }
}
