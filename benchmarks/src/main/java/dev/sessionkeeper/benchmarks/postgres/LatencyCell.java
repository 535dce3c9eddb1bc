package dev.sessionkeeper.benchmarks.postgres;

import java.util.ArrayList;
import java.util.List;

/**
 * Measures the time from send to handler at 1,000 messages per second of 16 senders, on 1,000
 * sessions.
 */
record LatencyCell(String name, int processes) implements Cell {
  private static final int SESSIONS = 1000;
  private static final int SENDERS = 16;
  private static final double PER_SECOND = 1000;

  /** The latencies of the slowest process: p50, p99, p99.9 in milliseconds. */
  private record Seen(double p50, double p99, double p999) {}

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var bare = new ArrayList<Seen>();
    var product = new ArrayList<Seen>();
    try (var first = Workers.start(bench, Arms.BARE, processes);
        var second = Workers.start(bench, Arms.KEEPER, processes)) {
      turn(bench, first, Arms.BARE);
      turn(bench, second, Arms.KEEPER);
      for (int i = 0; i < bench.times().repetitions(); i++) {
        bare.add(turn(bench, first, Arms.BARE));
        product.add(turn(bench, second, Arms.KEEPER));
        Bench.print(name + " #" + (i + 1) + "  " + bare.get(i) + " and " + product.get(i));
      }
    }
    return List.of(
        Row.of(name, "bare SQL, p50", bare.stream().map(Seen::p50).toList(), "ms"),
        Row.of(name, "bare SQL, p99", bare.stream().map(Seen::p99).toList(), "ms"),
        Row.of(name, "product, p50", product.stream().map(Seen::p50).toList(), "ms")
            .withGoal("≤ 1.0"),
        Row.of(name, "product, p99", product.stream().map(Seen::p99).toList(), "ms")
            .withGoal("≤ 10"),
        Row.of(name, "product, p99.9", product.stream().map(Seen::p999).toList(), "ms"));
  }

  private Seen turn(Bench bench, Workers workers, Arms arm) throws Exception {
    int senders = SENDERS / processes;
    var wish =
        new Turn.Wish(
            arm, bench.freshName(), 0, processes, SESSIONS, senders, 1, bench.board(), false);
    var board = workers.open(wish);
    workers.tellAll("consume");
    workers.tellAll("pace " + PER_SECOND / processes);
    Thread.sleep(bench.times().settle());
    workers.tellAll("forget");
    Thread.sleep(bench.times().window());
    var seen = new Seen(0, 0, 0);
    for (int i = 0; i < processes; i++) {
      var words = workers.tell(i, "latencies").split(" ", -1);
      seen =
          new Seen(
              Math.max(seen.p50, Double.parseDouble(words[1])),
              Math.max(seen.p99, Double.parseDouble(words[2])),
              Math.max(seen.p999, Double.parseDouble(words[3])));
    }
    workers.tellAll("stop");
    SteadyCell.await(board, bench.times().window().plusSeconds(30));
    workers.tellAll("close");
    return seen;
  }
}
