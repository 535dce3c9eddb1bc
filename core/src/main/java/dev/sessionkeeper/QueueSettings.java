package dev.sessionkeeper;

import java.time.Duration;

/**
 * How a queue behaves.
 *
 * @param maxDeliveryCount attempts before the poison policy decides; 1 to 1,000
 * @param lockDuration how long a lease lasts without renewal; 1 second to 12 hours
 * @param messageTtl after which a waiting message becomes a dead letter with reason {@code expired}
 * @param duplicateWindow how long the id of a message is remembered
 */
public record QueueSettings(
    QueueMode mode,
    int maxDeliveryCount,
    Duration lockDuration,
    Duration messageTtl,
    Duration duplicateWindow,
    PoisonPolicy poisonPolicy) {
  public QueueSettings {
    if (maxDeliveryCount < 1 || maxDeliveryCount > 1000) {
      throw new IllegalArgumentException(
          "maxDeliveryCount must be 1 to 1000, was " + maxDeliveryCount);
    }
    requireRange("lockDuration", lockDuration, Duration.ofSeconds(1), Duration.ofHours(12));
    requireRange("messageTtl", messageTtl, Duration.ofSeconds(1), Duration.ofDays(366));
    requireRange("duplicateWindow", duplicateWindow, Duration.ZERO, Duration.ofDays(7));
  }

  /**
   * Ordered: 5 attempts, a lock of 1 minute, 24 hours to live, duplicates known for 10 minutes,
   * dead letters.
   */
  public static QueueSettings ordered() {
    return defaults(QueueMode.ORDERED);
  }

  /** Unordered, with the same defaults. */
  public static QueueSettings unordered() {
    return defaults(QueueMode.UNORDERED);
  }

  private static QueueSettings defaults(QueueMode mode) {
    return new QueueSettings(
        mode,
        5,
        Duration.ofMinutes(1),
        Duration.ofHours(24),
        Duration.ofMinutes(10),
        PoisonPolicy.DEAD_LETTER);
  }

  public QueueSettings withMaxDeliveryCount(int count) {
    return new QueueSettings(mode, count, lockDuration, messageTtl, duplicateWindow, poisonPolicy);
  }

  public QueueSettings withLockDuration(Duration duration) {
    return new QueueSettings(
        mode, maxDeliveryCount, duration, messageTtl, duplicateWindow, poisonPolicy);
  }

  public QueueSettings withMessageTtl(Duration ttl) {
    return new QueueSettings(
        mode, maxDeliveryCount, lockDuration, ttl, duplicateWindow, poisonPolicy);
  }

  public QueueSettings withDuplicateWindow(Duration window) {
    return new QueueSettings(
        mode, maxDeliveryCount, lockDuration, messageTtl, window, poisonPolicy);
  }

  public QueueSettings withPoisonPolicy(PoisonPolicy policy) {
    return new QueueSettings(
        mode, maxDeliveryCount, lockDuration, messageTtl, duplicateWindow, policy);
  }

  /**
   * For providers: these settings for a queue that another client created. A value that is our
   * default counts as not given, and the queue keeps its own.
   */
  public QueueSettings adopting(QueueSettings existing) {
    var defaults = defaults(mode);
    return new QueueSettings(
        mode,
        maxDeliveryCount == defaults.maxDeliveryCount
            ? existing.maxDeliveryCount
            : maxDeliveryCount,
        given(lockDuration, defaults.lockDuration, existing.lockDuration),
        given(messageTtl, defaults.messageTtl, existing.messageTtl),
        given(duplicateWindow, defaults.duplicateWindow, existing.duplicateWindow),
        poisonPolicy == defaults.poisonPolicy ? existing.poisonPolicy : poisonPolicy);
  }

  private static Duration given(Duration wanted, Duration standard, Duration existing) {
    return wanted.equals(standard) ? existing : wanted;
  }

  private static void requireRange(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          name + " must be " + least + " to " + most + ", was " + value);
    }
  }
}
