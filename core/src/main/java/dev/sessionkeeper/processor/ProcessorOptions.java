package dev.sessionkeeper.processor;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The options of a processor. A running processor shows the ones in force.
 *
 * @param maxConcurrentSessions sessions held at once
 * @param sessionIdleTimeout how long a session without work is held; time inside a handler does not
 *     count
 * @param sessionMaxDuration how long a session is held at most; then the current message is
 *     finished and the session released
 * @param maxMessagesPerHold how many messages are handled before another session gets its turn
 * @param maxAutoRenew how long the lease is renewed for one message
 * @param prefetch messages received from a session at once
 * @param retry delays after failures, and attempts before the poison policy decides
 * @param poisonPolicy decides after the last attempt; if empty, the queue's own
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
    return new Draft().build();
  }

  public ProcessorOptions withMaxConcurrentSessions(int value) {
    return with(draft -> draft.maxConcurrentSessions = value);
  }

  public ProcessorOptions withSessionIdleTimeout(Duration value) {
    return with(draft -> draft.sessionIdleTimeout = value);
  }

  public ProcessorOptions withSessionMaxDuration(Duration value) {
    return with(draft -> draft.sessionMaxDuration = value);
  }

  public ProcessorOptions withMaxMessagesPerHold(int value) {
    return with(draft -> draft.maxMessagesPerHold = value);
  }

  public ProcessorOptions withMaxAutoRenew(Duration value) {
    return with(draft -> draft.maxAutoRenew = value);
  }

  public ProcessorOptions withPrefetch(int value) {
    return with(draft -> draft.prefetch = value);
  }

  public ProcessorOptions withRetry(RetryPolicy value) {
    return with(draft -> draft.retry = value);
  }

  public ProcessorOptions withPoisonPolicy(PoisonPolicy value) {
    return with(draft -> draft.poisonPolicy = Optional.of(value));
  }

  public ProcessorOptions withDrainTimeout(Duration value) {
    return with(draft -> draft.drainTimeout = value);
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

  private ProcessorOptions with(Consumer<Draft> change) {
    var draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** The options while one of them is changed; a new draft has the defaults. */
  private static final class Draft {
    private int maxConcurrentSessions = 8;
    private Duration sessionIdleTimeout = Duration.ofMinutes(2);
    private Duration sessionMaxDuration = Duration.ofMinutes(30);
    private int maxMessagesPerHold = 1000;
    private Duration maxAutoRenew = Duration.ofMinutes(5);
    private int prefetch = 32;
    private RetryPolicy retry = RetryPolicy.ofDefaults();
    private Optional<PoisonPolicy> poisonPolicy = Optional.empty();
    private Duration drainTimeout = Duration.ofSeconds(30);

    Draft() {}

    Draft(ProcessorOptions from) {
      maxConcurrentSessions = from.maxConcurrentSessions;
      sessionIdleTimeout = from.sessionIdleTimeout;
      sessionMaxDuration = from.sessionMaxDuration;
      maxMessagesPerHold = from.maxMessagesPerHold;
      maxAutoRenew = from.maxAutoRenew;
      prefetch = from.prefetch;
      retry = from.retry;
      poisonPolicy = from.poisonPolicy;
      drainTimeout = from.drainTimeout;
    }

    ProcessorOptions build() {
      return new ProcessorOptions(
          maxConcurrentSessions,
          sessionIdleTimeout,
          sessionMaxDuration,
          maxMessagesPerHold,
          maxAutoRenew,
          prefetch,
          retry,
          poisonPolicy,
          drainTimeout);
    }
  }
}
