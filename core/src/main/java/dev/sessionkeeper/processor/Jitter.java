package dev.sessionkeeper.processor;

import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Spreads times, so that those who began together do not go on together. Safe for many threads. */
final class Jitter {
  private final RandomGenerator random;

  Jitter(RandomGenerator random) {
    this.random = random;
  }

  /** Between three quarters of it and all of it. */
  synchronized long shorten(long nanos) {
    return (long) ((double) nanos * (0.75 + 0.25 * random.nextDouble()));
  }

  synchronized Duration delayAfter(RetryPolicy policy, int attempt) {
    return policy.delayAfter(attempt, random);
  }
}
