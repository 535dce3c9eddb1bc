package dev.sessionkeeper;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The number of attempts of a call, and the delays between them: exponential, with a longest delay
 * and jitter. All parts of the product use this policy.
 *
 * @param maxAttempts the most attempts, the first one included
 * @param first the delay after the first failure
 * @param factor by which each further delay grows
 * @param most the longest delay before jitter
 * @param jitter the part by which a delay may be shorter or longer, 0 to 1
 */
public record RetryPolicy(
    int maxAttempts, Duration first, double factor, Duration most, double jitter) {
  private static final double FACTOR = 2;
  private static final double JITTER = 0.25;

  public RetryPolicy {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be at least 1, was " + maxAttempts);
    }
    Limits.requireNotNegative("first", first);
    Limits.requireNotNegative("most", most);
    if (factor < 1) {
      throw new IllegalArgumentException("factor must be at least 1, was " + factor);
    }
    if (jitter < 0 || jitter > 1) {
      throw new IllegalArgumentException("jitter must be 0 to 1, was " + jitter);
    }
  }

  /**
   * Returns the policy for messages: 5 attempts, delays from 1 second doubling to 16, with 25 %
   * jitter.
   */
  public static RetryPolicy ofDefaults() {
    return new RetryPolicy(5, Duration.ofSeconds(1), FACTOR, Duration.ofSeconds(16), JITTER);
  }

  /**
   * Returns the policy for calls to a store or broker: delays from 50 ms doubling to 5 seconds,
   * with 50 % jitter.
   */
  public static RetryPolicy forStore(int maxAttempts) {
    return new RetryPolicy(maxAttempts, Duration.ofMillis(50), FACTOR, Duration.ofSeconds(5), 0.5);
  }

  /** Returns the policy for calls whose next attempt can succeed at once: no delay. */
  public static RetryPolicy atOnce(int maxAttempts) {
    return new RetryPolicy(maxAttempts, Duration.ZERO, FACTOR, Duration.ZERO, 0);
  }

  /**
   * Returns the policy for background work that must not give up: delays double from the first to
   * the longest one, without end.
   */
  public static RetryPolicy endless(Duration first, Duration most) {
    return new RetryPolicy(Integer.MAX_VALUE, first, FACTOR, most, JITTER);
  }

  public RetryPolicy withMaxAttempts(int attempts) {
    return new RetryPolicy(attempts, first, factor, most, jitter);
  }

  /** Returns whether a failure at this attempt may be retried. The first attempt is 1. */
  public boolean allowsAfter(int attempt) {
    return attempt < maxAttempts;
  }

  /** Returns how long to wait after this failed attempt. */
  public Duration delayAfter(int attempt, RandomGenerator random) {
    double nanos = (double) first.toNanos() * Math.pow(factor, Math.min(attempt - 1, 60));
    double capped = Math.min(nanos, (double) most.toNanos());
    double spread = jitter == 0 ? 1 : 1 - jitter + 2 * jitter * random.nextDouble();
    return Duration.ofNanos((long) (capped * spread));
  }
}
