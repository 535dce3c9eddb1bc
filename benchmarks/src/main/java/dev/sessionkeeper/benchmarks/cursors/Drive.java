package dev.sessionkeeper.benchmarks.cursors;

import java.util.ArrayList;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Drives a contestant with several producers, for a time, at a fixed rate or at full speed. */
final class Drive {
  /** The time until an event is durable is measured for one event out of this many. */
  private static final int SAMPLE = 64;

  private Drive() {}

  /** The result of a measurement. */
  record Result(String arm, double perSecond, double ratio, double p50, double p99, double worst) {
    @Override
    public String toString() {
      return String.format(
          "  %-18s %,12.0f events/s  %7.1f events per row  durable after p50 %.1f ms, p99 %.1f ms,"
              + " at most %.1f ms",
          arm, perSecond, ratio, p50, p99, worst);
    }
  }

  /** Runs and closes the contestant. A rate of 0 means full speed. */
  static Result measure(WriterArm arm, int streams, int producers, int rate, int seconds)
      throws InterruptedException {
    var latencies = new ConcurrentLinkedQueue<Long>();
    var events = new AtomicLong();
    var threads = new ArrayList<Thread>();
    long began = System.nanoTime();
    long end = began + TimeUnit.SECONDS.toNanos(seconds);
    for (int p = 0; p < producers; p++) {
      int producer = p;
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    double interval = rate == 0 ? 0 : 1e9 * producers / rate;
                    events.addAndGet(
                        produce(arm, streams, producers, producer, interval, end, latencies));
                  }));
    }
    for (var thread : threads) {
      thread.join();
    }
    double took = (System.nanoTime() - began) / 1e9;
    arm.close();
    var sorted = latencies.stream().mapToDouble(nanos -> nanos / 1e6).sorted().toArray();
    return new Result(
        arm.name(),
        events.get() / took,
        (double) events.get() / Math.max(1, arm.rows()),
        at(sorted, 0.5),
        at(sorted, 0.99),
        at(sorted, 1));
  }

  private static long produce(
      WriterArm arm,
      int streams,
      int producers,
      int producer,
      double interval,
      long end,
      ConcurrentLinkedQueue<Long> latencies) {
    long sent = 0;
    long start = System.nanoTime();
    int mine = streams / producers;
    for (long now = start; now < end; now = System.nanoTime()) {
      // In bursts of a millisecond, because reading the clock for each event would cost more.
      long due = interval == 0 ? sent + 32 : (long) ((now - start) / interval);
      for (; sent < due; sent++) {
        // Each producer has its own streams, so that their versions grow.
        int stream = producer * mine + (int) (sent % mine);
        if (sent % SAMPLE == 0) {
          long at = System.nanoTime();
          arm.submit(stream, start + sent, () -> latencies.add(System.nanoTime() - at));
        } else {
          arm.submit(stream, start + sent);
        }
      }
      if (interval > 0) {
        LockSupport.parkNanos(500_000);
      }
    }
    return sent;
  }

  private static double at(double[] sorted, double part) {
    return sorted.length == 0
        ? Double.NaN
        : sorted[(int) Math.min(sorted.length - 1L, Math.round(part * sorted.length))];
  }
}
