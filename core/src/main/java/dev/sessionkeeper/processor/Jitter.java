package dev.sessionkeeper.processor;

import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Adds random jitter to delays, so that slots that started together do not poll together.
 * Thread-safe.
 */
final class Jitter {
  private final RandomGenerator random;

  Jitter(RandomGenerator random) {
    this.random = random;
  }

  /** Returns a jitter for one thread, which shares no random numbers with other threads. */
  synchronized Jitter split() {
    return new Jitter(new SplittableRandom(random.nextLong()));
  }

  /** Returns a random time between three quarters of these nanoseconds and all of them. */
  synchronized long shorten(long nanos) {
    return (long) ((double) nanos * (0.75 + 0.25 * random.nextDouble()));
  }

  synchronized Duration delayAfter(RetryPolicy policy, int attempt) {
    return policy.delayAfter(attempt, random);
  }
}
