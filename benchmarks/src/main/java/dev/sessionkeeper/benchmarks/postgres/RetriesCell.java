package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Empties a queue of messages that each fail once, compared with bare SQL without failures. */
record RetriesCell(String name, int sessions, int messages) implements Cell {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var bare = new ArrayList<Double>();
    var product = new ArrayList<Double>();
    try (var first = Workers.start(bench, Arms.BARE, 1);
        var second = Workers.start(bench, Arms.FAILING, 1)) {
      turn(bench, first, Arms.BARE);
      turn(bench, second, Arms.FAILING);
      for (int i = 0; i < bench.times().repetitions(); i++) {
        bare.add(turn(bench, first, Arms.BARE));
        product.add(turn(bench, second, Arms.FAILING));
        Bench.print(name + " #" + (i + 1) + "  " + bare.get(i) + " and " + product.get(i));
      }
    }
    return List.of(
        Row.of(name, "bare SQL, none fails", bare, "msg/s"),
        Row.of(name, "product, each fails once", product, "msg/s").withGoal("≥ 16.2k"),
        Row.of(name, "ratio", Runs.ratios(bare, product, Double::doubleValue), ""));
  }

  private double turn(Bench bench, Workers workers, Arms arm) throws Exception {
    int count = bench.times().isQuick() ? messages / 10 : messages;
    var wish = new Turn.Wish(arm, bench.freshName(), 0, 1, sessions, 1, 1, bench.board(), false);
    var board = workers.open(wish);
    workers.tell(0, "fill " + count);
    long began = System.nanoTime();
    workers.tell(0, "consume");
    boolean isWhole = SteadyCell.await(board, PATIENCE);
    double seconds = (System.nanoTime() - began) / 1e9;
    workers.tell(0, "close");
    if (!isWhole || board.violations() > 0) {
      throw new IllegalStateException(
          name + " lost or overtook messages: " + board.violations() + " out of order");
    }
    return count / seconds;
  }
}
