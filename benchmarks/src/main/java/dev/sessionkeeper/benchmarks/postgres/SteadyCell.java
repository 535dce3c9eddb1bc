package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Processes that each send and consume at once, in a closed loop, compared with as many of bare
 * SQL. The rate counts handled messages, not stored ones.
 *
 * @param product the product's contestant
 * @param senders of each process
 * @param batch messages per send
 * @param goal of the ratio of rates
 */
record SteadyCell(
    String name, Arms product, int processes, int sessions, int senders, int batch, String goal)
    implements Cell {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /**
   * The result of a turn.
   *
   * @param tailSeconds from the last send until everything was handled
   * @param left messages that were not handled in the end
   */
  record Result(
      double perSecond,
      double databaseMicros,
      double clientMicros,
      double tailSeconds,
      long violations,
      long left) {}

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var times = bench.times();
    try (var bare = Workers.start(bench, Arms.BARE, processes);
        var keeper = Workers.start(bench, product, processes)) {
      turn(bench, bare, Arms.BARE, times.warmUp());
      turn(bench, keeper, product, times.warmUp());
      var base = new ArrayList<Result>();
      var other = new ArrayList<Result>();
      for (int i = 0; i < times.repetitions(); i++) {
        base.add(turn(bench, bare, Arms.BARE, times.window()));
        other.add(turn(bench, keeper, product, times.window()));
        Bench.print(
            String.format(
                Locale.ROOT,
                "%s #%d  row per session %s  keeper %s",
                name,
                i + 1,
                text(base.get(i)),
                text(other.get(i))));
      }
      return rows(base, other);
    }
  }

  private static String text(Result result) {
    return String.format(
        Locale.ROOT,
        "%.1fk/s, %.0f+%.0f us",
        result.perSecond / 1000,
        result.databaseMicros,
        result.clientMicros);
  }

  private List<Row> rows(List<Result> base, List<Result> other) {
    var note =
        String.format(
            Locale.ROOT,
            "violations %d, left %d",
            other.stream().mapToLong(Result::violations).sum(),
            other.stream().mapToLong(Result::left).sum());
    return List.of(
        Row.of(name, "bare SQL", values(base, Result::perSecond), "msg/s"),
        Row.of(name, "product", values(other, Result::perSecond), "msg/s").withNote(note),
        Row.of(name, "ratio", Runs.ratios(base, other, Result::perSecond), "").withGoal(goal),
        Row.of(
                name,
                "database CPU per message, ratio",
                Runs.ratios(base, other, Result::databaseMicros),
                "")
            .withGoal("≤ 0.3"),
        Row.of(name, "database CPU per message", values(other, Result::databaseMicros), "µs"),
        Row.of(name, "client CPU per message", values(other, Result::clientMicros), "µs"),
        Row.of(name, "last send to last handler", values(other, Result::tailSeconds), "s"));
  }

  private static List<Double> values(List<Result> results, ToDoubleFunction<Result> value) {
    return results.stream().map(value::applyAsDouble).toList();
  }

  private Result turn(Bench bench, Workers workers, Arms arm, Duration window) throws Exception {
    var wish =
        new Turn.Wish(
            arm, bench.freshName(), 0, processes, sessions, senders, batch, bench.board(), false);
    var board = workers.open(wish);
    workers.tellAll("consume");
    workers.tellAll("produce");
    Thread.sleep(bench.times().settle());
    var result = measure(bench, workers, board, window);
    workers.tellAll("stop");
    long stopped = System.nanoTime();
    await(board, PATIENCE);
    double tail = (System.nanoTime() - stopped) / 1e9;
    workers.tellAll("close");
    return new Result(
        result.perSecond,
        result.databaseMicros,
        result.clientMicros,
        tail,
        board.violations(),
        board.sent() - board.handled());
  }

  /** Measures one window. */
  static Result measure(Bench bench, Workers workers, Scoreboard board, Duration window)
      throws InterruptedException {
    long handled = board.handled();
    double database = bench.databaseSeconds();
    double client = workers.cpuSeconds();
    long began = System.nanoTime();
    Thread.sleep(window);
    double seconds = (System.nanoTime() - began) / 1e9;
    long done = board.handled() - handled;
    return new Result(
        done / seconds,
        (bench.databaseSeconds() - database) * 1e6 / done,
        (workers.cpuSeconds() - client) * 1e6 / done,
        0,
        0,
        0);
  }

  /** Returns whether everything was handled in time. */
  static boolean await(Scoreboard board, Duration patience) throws InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (board.sent() > board.handled()) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      Thread.sleep(5);
    }
    return true;
  }
}
