package dev.sessionkeeper.github;

import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;

/**
 * The schedule by which a message that did not reach its bot is pushed again.
 *
 * @param first the delay after the first failure
 * @param factor by which each further delay grows
 * @param max the longest delay
 * @param limit how long an endpoint may be down before the poison policy decides about a message
 */
public record RetrySchedule(Duration first, double factor, Duration max, Duration limit) {
  private static final double JITTER = 0.25;

  public RetrySchedule {
    if (first.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          "retry.first must not be longer than retry.max (" + max + "), was " + first);
    }
  }

  /** Returns the defaults: delays from one second, doubling to five minutes, for a day. */
  public static RetrySchedule ofDefaults() {
    return new RetrySchedule(Duration.ofSeconds(1), 2, Duration.ofMinutes(5), Duration.ofHours(24));
  }

  /** Returns the same delays with a limit of attempts. */
  public RetryPolicy policy(int maxAttempts) {
    return new RetryPolicy(maxAttempts, first, factor, max, JITTER);
  }
}
