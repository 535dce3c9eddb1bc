package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A single consuming process, compared with one beside which operators inspect and act and clients
 * accept sessions by name. Both are the product.
 *
 * @param isWithin whether the consuming process itself is asked, or another one
 */
record DisturbedCell(String name, boolean isWithin) implements Cell {
  private static final int SESSIONS = 1000;
  private static final int SENDERS = 4;
  private static final int BATCH = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var times = bench.times();
    var alone = new ArrayList<Turned>();
    var disturbed = new ArrayList<Turned>();
    try (var workers = Workers.start(bench, Arms.KEEPER, 2)) {
      turn(bench, workers, false, times.warmUp());
      for (int i = 0; i < times.repetitions(); i++) {
        alone.add(turn(bench, workers, false, times.window()));
        disturbed.add(turn(bench, workers, true, times.window()));
        Bench.print(name + " #" + (i + 1) + "  " + alone.get(i) + ", then " + disturbed.get(i));
      }
    }
    return List.of(
        Row.of(name, "left alone", alone.stream().map(Turned::perSecond).toList(), "msg/s")
            .withNote(again(alone)),
        Row.of(name, "disturbed", disturbed.stream().map(Turned::perSecond).toList(), "msg/s")
            .withNote(again(disturbed)),
        Row.of(name, "ratio", Runs.ratios(alone, disturbed, Turned::perSecond), "")
            .withGoal("≥ 0.9"));
  }

  private static String again(List<Turned> turns) {
    return "handled again " + turns.stream().mapToLong(Turned::again).sum();
  }

  /**
   * The result of a turn.
   *
   * @param again messages that were handled again, or out of order
   */
  private record Turned(double perSecond, long again) {}

  private Turned turn(Bench bench, Workers workers, boolean isDisturbed, Duration window)
      throws Exception {
    var wish =
        new Turn.Wish(
            Arms.KEEPER, bench.freshName(), 0, 2, SESSIONS, SENDERS, BATCH, bench.board(), false);
    var board = workers.open(wish);
    workers.tell(0, "consume");
    workers.tell(0, "produce");
    Thread.sleep(bench.times().settle());
    if (isDisturbed) {
      workers.tell(isWithin ? 0 : 1, "disturb");
      Thread.sleep(bench.times().settle());
    }
    var result = SteadyCell.measure(bench, workers, board, window);
    workers.tellAll("stop");
    boolean isWhole = SteadyCell.await(board, PATIENCE);
    workers.tellAll("close");
    if (!isWhole) {
      throw new IllegalStateException(
          name + " lost " + (board.sent() - board.handled()) + " of " + board.sent() + " messages");
    }
    // An act takes a session from its owner, and its open message is handled again.
    return new Turned(result.perSecond(), board.violations());
  }
}
