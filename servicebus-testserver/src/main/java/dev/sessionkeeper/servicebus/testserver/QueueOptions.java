package dev.sessionkeeper.servicebus.testserver;

import java.time.Duration;
import java.util.Optional;

/**
 * The options of a queue of the test server; the names are those of Service Bus.
 *
 * @param requiresSession whether every message has a session and receivers lock sessions
 * @param lockDuration how long a session, or a message of a queue without sessions, stays locked
 * @param maxDeliveryCount failed deliveries after which the broker itself dead-letters
 * @param duplicateWindow how long message ids are remembered; not at all if empty
 * @param timeToLive how long a message may wait before it expires
 * @param deadLetterExpired whether an expired message becomes a dead letter or is dropped
 */
public record QueueOptions(
    boolean requiresSession,
    Duration lockDuration,
    int maxDeliveryCount,
    Optional<Duration> duplicateWindow,
    Duration timeToLive,
    boolean deadLetterExpired) {

  /**
   * Returns options with sessions: a lock of one minute, 10 deliveries, no duplicate detection, 14
   * days to live.
   */
  public static QueueOptions withSessions() {
    return new QueueOptions(
        true, Duration.ofMinutes(1), 10, Optional.empty(), Duration.ofDays(14), true);
  }

  /** Returns options without sessions, with the same defaults. */
  public static QueueOptions withoutSessions() {
    return new QueueOptions(
        false, Duration.ofMinutes(1), 10, Optional.empty(), Duration.ofDays(14), true);
  }

  public QueueOptions lockDuration(Duration duration) {
    return new QueueOptions(
        requiresSession,
        duration,
        maxDeliveryCount,
        duplicateWindow,
        timeToLive,
        deadLetterExpired);
  }

  public QueueOptions maxDeliveryCount(int count) {
    return new QueueOptions(
        requiresSession, lockDuration, count, duplicateWindow, timeToLive, deadLetterExpired);
  }

  public QueueOptions duplicateWindow(Duration window) {
    return new QueueOptions(
        requiresSession,
        lockDuration,
        maxDeliveryCount,
        Optional.of(window),
        timeToLive,
        deadLetterExpired);
  }

  public QueueOptions timeToLive(Duration ttl) {
    return new QueueOptions(
        requiresSession, lockDuration, maxDeliveryCount, duplicateWindow, ttl, deadLetterExpired);
  }

  /**
   * Returns the options of a dead-letter subqueue: no sessions, no expiry, no further
   * dead-lettering.
   */
  QueueOptions ofDeadLetters() {
    return new QueueOptions(
        false, lockDuration, Integer.MAX_VALUE, Optional.empty(), Duration.ofDays(36_500), false);
  }
}
