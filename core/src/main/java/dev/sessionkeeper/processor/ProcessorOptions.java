package dev.sessionkeeper.processor;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.Optional;

/**
 * How a processor works; a running one shows what is really set.
 *
 * @param maxConcurrentSessions sessions held at once
 * @param sessionIdleTimeout a held session without work is given back after this; the clock stops
 *     while a handler runs
 * @param sessionMaxDuration then no new message is taken, the current one is finished, the session
 *     given back
 * @param maxMessagesPerHold the share of one session before others come; the same ending
 * @param maxAutoRenew how long the lease is renewed for one message
 * @param prefetch messages taken from a session at once
 * @param retry delays after failures, and attempts before the poison policy
 * @param poisonPolicy what follows then; the queue's own where it is empty
 * @param drainTimeout how long close() waits for handlers
 */
public record ProcessorOptions(
    int maxConcurrentSessions,
    Duration sessionIdleTimeout,
    Duration sessionMaxDuration,
    int maxMessagesPerHold,
    Duration maxAutoRenew,
    int prefetch,
    RetryPolicy retry,
    Optional<PoisonPolicy> poisonPolicy,
    Duration drainTimeout) {
  public ProcessorOptions {
    requireAtLeastOne("maxConcurrentSessions", maxConcurrentSessions);
    requireAtLeastOne("maxMessagesPerHold", maxMessagesPerHold);
    requireAtLeastOne("prefetch", prefetch);
    requirePositive("sessionIdleTimeout", sessionIdleTimeout);
    requirePositive("sessionMaxDuration", sessionMaxDuration);
    requirePositive("maxAutoRenew", maxAutoRenew);
    requirePositive("drainTimeout", drainTimeout);
    if (sessionIdleTimeout.compareTo(sessionMaxDuration) > 0) {
      throw new IllegalArgumentException(
          "sessionIdleTimeout must not be longer than sessionMaxDuration ("
              + sessionMaxDuration
              + "), was "
              + sessionIdleTimeout);
    }
  }

  /**
   * 8 sessions, idle 2 minutes, 30 minutes or 1,000 messages per hold, 5 attempts, 30 seconds to
   * drain.
   */
  public static ProcessorOptions ofDefaults() {
    return new ProcessorOptions(
        8,
        Duration.ofMinutes(2),
        Duration.ofMinutes(30),
        1000,
        Duration.ofMinutes(5),
        32,
        RetryPolicy.ofDefaults(),
        Optional.empty(),
        Duration.ofSeconds(30));
  }

  public ProcessorOptions withMaxConcurrentSessions(int value) {
    return new ProcessorOptions(
        value,
        sessionIdleTimeout,
        sessionMaxDuration,
        maxMessagesPerHold,
        maxAutoRenew,
        prefetch,
        retry,
        poisonPolicy,
        drainTimeout);
  }

  public ProcessorOptions withSessionIdleTimeout(Duration value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        value,
        sessionMaxDuration,
        maxMessagesPerHold,
        maxAutoRenew,
        prefetch,
        retry,
        poisonPolicy,
        drainTimeout);
  }

  public ProcessorOptions withSessionMaxDuration(Duration value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        sessionIdleTimeout,
        value,
        maxMessagesPerHold,
        maxAutoRenew,
        prefetch,
        retry,
        poisonPolicy,
        drainTimeout);
  }

  public ProcessorOptions withMaxMessagesPerHold(int value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        sessionIdleTimeout,
        sessionMaxDuration,
        value,
        maxAutoRenew,
        prefetch,
        retry,
        poisonPolicy,
        drainTimeout);
  }

  public ProcessorOptions withMaxAutoRenew(Duration value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        sessionIdleTimeout,
        sessionMaxDuration,
        maxMessagesPerHold,
        value,
        prefetch,
        retry,
        poisonPolicy,
        drainTimeout);
  }

  public ProcessorOptions withPrefetch(int value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        sessionIdleTimeout,
        sessionMaxDuration,
        maxMessagesPerHold,
        maxAutoRenew,
        value,
        retry,
        poisonPolicy,
        drainTimeout);
  }

  public ProcessorOptions withRetry(RetryPolicy value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        sessionIdleTimeout,
        sessionMaxDuration,
        maxMessagesPerHold,
        maxAutoRenew,
        prefetch,
        value,
        poisonPolicy,
        drainTimeout);
  }

  public ProcessorOptions withPoisonPolicy(PoisonPolicy value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        sessionIdleTimeout,
        sessionMaxDuration,
        maxMessagesPerHold,
        maxAutoRenew,
        prefetch,
        retry,
        Optional.of(value),
        drainTimeout);
  }

  public ProcessorOptions withDrainTimeout(Duration value) {
    return new ProcessorOptions(
        maxConcurrentSessions,
        sessionIdleTimeout,
        sessionMaxDuration,
        maxMessagesPerHold,
        maxAutoRenew,
        prefetch,
        retry,
        poisonPolicy,
        value);
  }

  private static void requireAtLeastOne(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be at least 1, was " + value);
    }
  }

  private static void requirePositive(String name, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + " must be longer than zero, was " + value);
    }
  }
}
