package dev.sessionkeeper.benchmarks.postgres;

import java.util.concurrent.atomic.AtomicLongArray;

/** Counts latencies in buckets of 50 microseconds. */
public final class Latencies {
  private static final int BUCKETS = 40_000;
  private static final int BUCKET_NANOS = 50_000;

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

  void add(long nanos) {
    counts.incrementAndGet(Math.clamp(nanos / BUCKET_NANOS, 0, BUCKETS - 1));
  }

  public void clear() {
    for (int i = 0; i < BUCKETS; i++) {
      counts.set(i, 0);
    }
  }

  /** Returns the latency in milliseconds of this quantile. */
  public double millis(double part) {
    long all = 0;
    for (int i = 0; i < BUCKETS; i++) {
      all += counts.get(i);
    }
    long below = 0;
    for (int i = 0; i < BUCKETS; i++) {
      below += counts.get(i);
      if (below >= part * all) {
        return (i + 1) * (BUCKET_NANOS / 1e6);
      }
    }
    return Double.NaN;
  }
}
