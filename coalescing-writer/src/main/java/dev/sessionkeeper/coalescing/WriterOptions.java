package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;

/**
 * The options of a writer. A running writer shows the ones in force.
 *
 * @param stripes how many batches may be in flight at once; keys are spread over them
 * @param batchSize the most entries of one write; that many waiting ones are written at once
 * @param linger how long a value waits for its batch
 * @param maxLinger how long it may wait if the store is slow or failing
 * @param maxItems the most keys: waiting, in flight or waiting for their retry
 * @param maxBytes the most bytes of the same
 * @param whenFull what happens when either bound is reached
 * @param retry delays after failures that can be repeated, and attempts before a value is set aside
 */
public record WriterOptions(
    int stripes,
    int batchSize,
    Duration linger,
    Duration maxLinger,
    int maxItems,
    long maxBytes,
    WhenFull whenFull,
    RetryPolicy retry) {
  /** The part of a bound above which callers should slow down. */
  static final double SOFT_LIMIT = 0.8;

  public WriterOptions {
    requireAtLeastOne("stripes", stripes);
    requireAtLeastOne("batchSize", batchSize);
    requireAtLeastOne("maxItems", maxItems);
    requireAtLeastOne("maxBytes", maxBytes);
    if (linger.isNegative()) {
      throw new IllegalArgumentException("linger must not be negative, was " + linger);
    }
    if (maxLinger.compareTo(linger) < 0) {
      throw new IllegalArgumentException(
          "maxLinger must be at least linger (" + linger + "), was " + maxLinger);
    }
  }

  /**
   * Returns the defaults: two stripes per core, 200 entries per write, 5 to 50 ms linger, 100,000
   * keys or 64 MiB, BLOCK for 100 ms, and unlimited retries, because a store that is down is not
   * the fault of a value.
   */
  public static WriterOptions ofDefaults() {
    return new WriterOptions(
        2 * Runtime.getRuntime().availableProcessors(),
        200,
        Duration.ofMillis(5),
        Duration.ofMillis(50),
        100_000,
        64L << 20,
        new WhenFull.Block(Duration.ofMillis(100)),
        RetryPolicy.forStore(Integer.MAX_VALUE));
  }

  public WriterOptions withStripes(int count) {
    return new WriterOptions(
        count, batchSize, linger, maxLinger, maxItems, maxBytes, whenFull, retry);
  }

  public WriterOptions withBatchSize(int size) {
    return new WriterOptions(stripes, size, linger, maxLinger, maxItems, maxBytes, whenFull, retry);
  }

  public WriterOptions withLinger(Duration usual, Duration most) {
    return new WriterOptions(stripes, batchSize, usual, most, maxItems, maxBytes, whenFull, retry);
  }

  public WriterOptions withRoomFor(int items, long bytes) {
    return new WriterOptions(stripes, batchSize, linger, maxLinger, items, bytes, whenFull, retry);
  }

  public WriterOptions withWhenFull(WhenFull policy) {
    return new WriterOptions(
        stripes, batchSize, linger, maxLinger, maxItems, maxBytes, policy, retry);
  }

  public WriterOptions withRetry(RetryPolicy policy) {
    return new WriterOptions(
        stripes, batchSize, linger, maxLinger, maxItems, maxBytes, whenFull, policy);
  }

  private static void requireAtLeastOne(String name, long value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be at least 1, was " + value);
    }
  }
}
