package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;

/**
 * Whether the product gets slower: steady load for a long time, the rate of the last minute over
 * that of the first. A run that is too short for minutes compares its fifths.
 */
record LongRun(Duration whole, Duration part) {
  private static final int SESSIONS = 1000;
  private static final int PRODUCERS = 4;
  private static final int BATCH = 20;
  private static final Duration WARM_UP = Duration.ofSeconds(10);

  static LongRun ofSeconds(int seconds) {
    if (seconds < 5) {
      throw new IllegalArgumentException("A long run takes at least 5 seconds, was " + seconds);
    }
    return new LongRun(Duration.ofSeconds(seconds), Duration.ofSeconds(Math.min(60, seconds / 5)));
  }

  void run(DataSource database, long databasePid) throws Exception {
    try (var arm = new Watched(KeeperArm.open(database, SESSIONS))) {
      var shape = new SteadyState(SESSIONS, PRODUCERS, BATCH, WARM_UP, whole);
      var first = rate(arm, WARM_UP);
      var last = rate(arm, WARM_UP.plus(whole).minus(part));
      var result = shape.run(arm, databasePid);
      PostgresBenchmark.print(
          String.format(
              Locale.ROOT,
              "long: %d s of steady load at %.1fk msg/s; first %d s %.1fk, last %d s %.1fk,"
                  + " last / first %.2f; violations %d, left %d",
              whole.toSeconds(),
              result.perSecond() / 1000,
              part.toSeconds(),
              first.get() / 1000,
              part.toSeconds(),
              last.get() / 1000,
              last.get() / first.get(),
              result.violations(),
              result.left()));
    }
  }

  /** Messages per second in the part that begins so long after the load. */
  private CompletableFuture<Double> rate(Watched arm, Duration after) {
    var rate = new CompletableFuture<Double>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                var load = arm.load.get();
                Thread.sleep(after);
                long before = load.handled.get();
                long began = System.nanoTime();
                Thread.sleep(part);
                double seconds = (System.nanoTime() - began) / 1e9;
                rate.complete((load.handled.get() - before) / seconds);
              } catch (Exception e) {
                rate.completeExceptionally(e);
              }
            });
    return rate;
  }

  /** Lets others see the load of an arm. */
  private record Watched(Arm arm, CompletableFuture<Load> load) implements Arm {
    Watched(Arm arm) {
      this(arm, new CompletableFuture<>());
    }

    @Override
    public Producer producer() throws Exception {
      return arm.producer();
    }

    @Override
    public void consume(Load load) throws Exception {
      arm.consume(load);
      this.load.complete(load);
    }

    @Override
    public void stopConsuming() {
      arm.stopConsuming();
    }

    @Override
    public void close() throws Exception {
      arm.close();
    }
  }
}
