package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Fills a queue with batches of 1,000, then empties it, in one process, compared with bare SQL. */
record Drain(String name, int sessions, int messages) implements Cell {
  private static final int BATCH = 1000;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** The result of a run. */
  record Result(double sentPerSecond, double handledPerSecond, long violations, long left) {}

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var bare = new ArrayList<Result>();
    var keeper = new ArrayList<Result>();
    for (int i = 0; i < bench.times().repetitions(); i++) {
      try (var arm = RowPerSessionArm.open(bench.fresh(), true)) {
        bare.add(run(arm));
      }
      try (var arm = KeeperArm.open(bench.fresh(), sessions)) {
        keeper.add(run(arm));
      }
    }
    var violations = keeper.stream().mapToLong(Result::violations).sum();
    var left = keeper.stream().mapToLong(Result::left).sum();
    return List.of(
        Row.of(name, "filling, ratio", Runs.ratios(bare, keeper, Result::sentPerSecond), ""),
        Row.of(name, "bare SQL", bare.stream().map(Result::handledPerSecond).toList(), "msg/s"),
        Row.of(name, "product", keeper.stream().map(Result::handledPerSecond).toList(), "msg/s"),
        Row.of(name, "ratio", Runs.ratios(bare, keeper, Result::handledPerSecond), "")
            .withNote("violations " + violations + ", left " + left));
  }

  private Result run(Arm arm) throws Exception {
    var load = new Load(sessions, 1);
    long began = System.nanoTime();
    try (var sender = arm.producer()) {
      for (int i = 0; i < messages; i += BATCH) {
        var keys = ThreadLocalRandom.current().ints(BATCH, 0, sessions).toArray();
        var bodies = new byte[BATCH][];
        for (int j = 0; j < BATCH; j++) {
          bodies[j] = load.next(0, keys[j]);
        }
        sender.send(keys, bodies);
        load.addSent(BATCH);
      }
    }
    double sending = (System.nanoTime() - began) / 1e9;
    began = System.nanoTime();
    arm.consume(load);
    long deadline = began + PATIENCE.toNanos();
    while (load.open() > 0 && System.nanoTime() < deadline) {
      Thread.sleep(2);
    }
    double handling = (System.nanoTime() - began) / 1e9;
    arm.stopConsuming();
    return new Result(messages / sending, messages / handling, load.violations(), load.open());
  }
}
