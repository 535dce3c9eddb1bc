package dev.sessionkeeper.benchmarks.postgres;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Produces and consumes at once, in a closed loop: producers stop while too much is open, so the
 * rate is what was handled, not what piled up.
 *
 * @param batch messages per send
 */
record SteadyState(int sessions, int producers, int batch, Duration warmUp, Duration window) {
  private static final int MOST_OPEN = 30_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /**
   * What a run showed.
   *
   * @param left messages that were not handled in the end
   */
  record Result(
      double perSecond, double databaseMicros, double clientMicros, long violations, long left) {}

  Result run(Arm arm, long databasePid) throws Exception {
    var load = new Load(sessions, producers);
    var failure = new AtomicReference<Exception>();
    var stop = new AtomicBoolean();
    arm.consume(load);
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < producers; i++) {
      int producer = i;
      threads.add(Thread.ofPlatform().start(() -> produce(arm, load, producer, stop, failure)));
    }
    Thread.sleep(warmUp);
    long handled = load.handled.get();
    double database = CpuTime.secondsOf(databasePid);
    double client = clientSeconds();
    long began = System.nanoTime();
    Thread.sleep(window);
    double seconds = (System.nanoTime() - began) / 1e9;
    long done = load.handled.get() - handled;
    database = CpuTime.secondsOf(databasePid) - database;
    client = clientSeconds() - client;
    stop.set(true);
    for (var thread : threads) {
      thread.join();
    }
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (load.open() > 0 && System.nanoTime() < deadline) {
      Thread.sleep(5);
    }
    arm.stopConsuming();
    if (failure.get() != null) {
      throw failure.get();
    }
    return new Result(
        done / seconds,
        database * 1e6 / done,
        client * 1e6 / done,
        load.violations.sum(),
        load.open());
  }

  private void produce(
      Arm arm, Load load, int producer, AtomicBoolean stop, AtomicReference<Exception> failure) {
    try (var sender = arm.producer()) {
      while (!stop.get()) {
        if (load.open() > MOST_OPEN) {
          Thread.sleep(1);
          continue;
        }
        var keys = ThreadLocalRandom.current().ints(batch, 0, sessions).toArray();
        var bodies = new byte[batch][];
        for (int i = 0; i < batch; i++) {
          bodies[i] = load.next(producer, keys[i]);
        }
        sender.send(keys, bodies);
        load.sent.add(batch);
      }
    } catch (Exception e) {
      failure.set(e);
    }
  }

  private static double clientSeconds() {
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime() / 1e9;
  }
}
