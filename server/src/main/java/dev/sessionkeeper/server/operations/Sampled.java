package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A value that is read from the store for metrics, rarely however many gauges ask for it. While the
 * store does not answer, the previous value stands.
 *
 * <p>A scrape must not wait for a store that does not answer. So a thread of its own reads the
 * value, and a caller waits at most a second for it; after a failed reading, callers do not wait
 * until one succeeds. Threads: any.
 */
public final class Sampled<T> {
  private static final Logger log = LoggerFactory.getLogger(Sampled.class);
  private static final long PATIENCE_MILLIS = 1_000;

  private final Supplier<T> read;
  private final Duration fresh;
  private final TimeSource time;
  private final AtomicBoolean isReading = new AtomicBoolean();
  private volatile T value;
  private volatile long readAt;
  private volatile boolean isAway;

  public Sampled(T first, Supplier<T> read, Duration fresh, TimeSource time) {
    this.value = first;
    this.read = read;
    this.fresh = fresh;
    this.time = time;
    this.readAt = time.nanoTime() - fresh.toNanos();
  }

  public T get() {
    if (time.since(readAt).compareTo(fresh) >= 0 && isReading.compareAndSet(false, true)) {
      var done = new CountDownLatch(1);
      Thread.ofVirtual().name("sample").start(() -> read(done));
      if (!isAway) {
        await(done);
      }
    }
    return value;
  }

  private void read(CountDownLatch done) {
    try {
      value = read.get();
      isAway = false;
    } catch (RuntimeException e) {
      isAway = true;
      log.debug("A metric could not be read; the value read last stands", e);
    } finally {
      readAt = time.nanoTime();
      isReading.set(false);
      done.countDown();
    }
  }

  private void await(CountDownLatch done) {
    try {
      if (!done.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        isAway = true;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
