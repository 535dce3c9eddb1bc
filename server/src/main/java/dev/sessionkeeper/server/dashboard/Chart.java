package dev.sessionkeeper.server.dashboard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.DoubleStream;

/**
 * A chart over time as it looks without scripts: an SVG picture and a table.
 *
 * @param now the newest value, with its unit
 * @param rows about one value per minute, newest first, each behind its time
 */
record Chart(String key, String title, String now, List<Line> lines, List<List<String>> rows) {
  private static final int WIDTH = 300;
  private static final int HEIGHT = 80;
  private static final int ROWS = 30;
  private static final int COLOURS = 5;

  /** A line of the chart, and the area below it. */
  record Line(String name, String css, String points) {
    String area() {
      return closed(points, WIDTH, HEIGHT);
    }
  }

  static List<Chart> all(Data samples) {
    var charts = new ArrayList<Chart>();
    var in = samples.texts("in");
    var out = samples.texts("out");
    // Without rates the provider cannot tell them, unless the first sample is still to come.
    if (!in.isEmpty() || samples.texts("at").isEmpty()) {
      charts.add(
          chart(
              "rates",
              "Messages per second",
              plain(last(in)) + " in · " + plain(last(out)) + " out",
              samples,
              List.of("in", "out"),
              List.of(in, out)));
    }
    var depth = samples.texts("depth");
    charts.add(
        chart(
            "depth",
            "Waiting messages",
            Show.grouped(last(depth)),
            samples,
            List.of("depth"),
            List.of(depth)));
    var age = samples.texts("age");
    charts.add(
        chart("age", "Oldest message", age(last(age)), samples, List.of("age"), List.of(age)));
    return charts;
  }

  /**
   * Returns the chart of active sessions by kind over the last day; empty before the first sample.
   */
  static Optional<Chart> kinds(Data counted) {
    var times = counted.texts("at");
    if (times.isEmpty()) {
      return Optional.empty();
    }
    var kinds = counted.list("kinds");
    var values = kinds.stream().map(kind -> kind.texts("active")).toList();
    double most = values.stream().flatMapToDouble(Chart::numbers).max().stream().max().orElse(0);
    var lines = new ArrayList<Line>();
    var now = new ArrayList<String>();
    for (int i = 0; i < kinds.size(); i++) {
      var name = kinds.get(i).text("name");
      lines.add(new Line(name, "line-" + i % COLOURS, points(values.get(i), most, WIDTH, HEIGHT)));
      now.add(last(values.get(i)) + " " + name);
    }
    return Optional.of(
        new Chart(
            "kinds",
            "Active sessions by kind, last 24 h",
            String.join(" · ", now),
            lines,
            rows(times, values)));
  }

  private static Chart chart(
      String key,
      String title,
      String now,
      Data samples,
      List<String> names,
      List<List<String>> values) {
    double most = values.stream().flatMapToDouble(Chart::numbers).max().stream().max().orElse(0);
    var lines = new ArrayList<Line>();
    for (int i = 0; i < names.size(); i++) {
      lines.add(
          new Line(
              names.get(i), "line-" + names.get(i), points(values.get(i), most, WIDTH, HEIGHT)));
    }
    return new Chart(key, title, now, lines, rows(samples.texts("at"), values));
  }

  private static List<List<String>> rows(List<String> times, List<List<String>> values) {
    var rows = new ArrayList<List<String>>();
    int step = Math.max(1, times.size() / ROWS);
    for (int i = times.size() - 1; i >= 0; i -= step) {
      var row = new ArrayList<String>();
      row.add(times.get(i).substring(11, 19));
      for (var line : values) {
        row.add(i < line.size() ? line.get(i) : "–");
      }
      rows.add(row);
    }
    return rows;
  }

  /** Returns the points of a small line chart without axes. */
  static String spark(List<String> values) {
    return points(values, numbers(values).max().orElse(0), 100, 20);
  }

  /** Returns the area below {@link #spark}. */
  static String sparkArea(List<String> values) {
    return closed(spark(values), 100, 20);
  }

  private static String closed(String points, int width, int height) {
    return points.isEmpty()
        ? ""
        : points + " " + width + "," + height + " " + points.split(",", 2)[0] + "," + height;
  }

  private static String points(List<String> values, double most, int width, int height) {
    var points = new StringBuilder();
    int size = values.size();
    if (size == 1) {
      return points(List.of(values.getFirst(), values.getFirst()), most, width, height);
    }
    for (int i = 0; i < size; i++) {
      double x = (double) width * i / (size - 1);
      double share = most == 0 ? 0 : Double.parseDouble(values.get(i)) / most;
      points.append(
          String.format(
              Locale.ROOT, "%s%.1f,%.1f", i == 0 ? "" : " ", x, height - 1 - share * (height - 2)));
    }
    return points.toString();
  }

  /** Formats seconds as a person would say them; the pages' script does the same. */
  static String age(String seconds) {
    double value = Double.parseDouble(seconds);
    return value < 120 ? plain(seconds) + " s" : Show.duration(Duration.ofSeconds((long) value));
  }

  private static String plain(String number) {
    return number.endsWith(".0") ? number.substring(0, number.length() - 2) : number;
  }

  private static DoubleStream numbers(List<String> values) {
    return values.stream().mapToDouble(Double::parseDouble);
  }

  private static String last(List<String> values) {
    return values.isEmpty() ? "0" : values.getLast();
  }
}
