package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Fills a queue with batches of 1,000, then empties it. */
record Drain(int sessions, int messages) {
  private static final int BATCH = 1000;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** What a run showed. */
  record Result(double sentPerSecond, double handledPerSecond, long violations, long left) {}

  Result run(Arm arm) throws Exception {
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
        load.sent.add(BATCH);
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
    return new Result(messages / sending, messages / handling, load.violations.sum(), load.open());
  }
}
