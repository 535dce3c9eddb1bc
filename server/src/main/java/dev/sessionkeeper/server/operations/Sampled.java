package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A value that is read from the store for metrics: at most once in a while, however many gauges ask
 * for it. While the store does not answer, the value read last stands.
 *
 * <p>Threads: any.
 */
public final class Sampled<T> {
  private static final Logger log = LoggerFactory.getLogger(Sampled.class);

  private final Supplier<T> read;
  private final Duration fresh;
  private final TimeSource time;
  private T value;
  private long readAt;

  public Sampled(T first, Supplier<T> read, Duration fresh, TimeSource time) {
    this.value = first;
    this.read = read;
    this.fresh = fresh;
    this.time = time;
    this.readAt = time.nanoTime() - fresh.toNanos();
  }

  public synchronized T get() {
    if (time.since(readAt).compareTo(fresh) >= 0) {
      try {
        value = read.get();
      } catch (RuntimeException e) {
        log.debug("A metric could not be read; the value read last stands", e);
      }
      readAt = time.nanoTime();
    }
    return value;
  }
}
