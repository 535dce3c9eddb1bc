package dev.sessionkeeper.servicebus;

/**
 * Fencing tokens for sessions of a broker that has none.
 *
 * <p>An epoch is one more than the last one, which is kept with the session; and at least a number
 * that grows with the first message in hand. So it grows even if an empty session was forgotten in
 * between, because the next message of the queue has a higher sequence.
 */
final class Epochs {
  private static final long PER_MESSAGE = 1024;

  /** Sequences of partitioned queues begin with the number of the partition and leave no room. */
  private static final long LARGEST = Long.MAX_VALUE / PER_MESSAGE - 1;

  private Epochs() {}

  /** The lowest epoch of a session whose first message has this sequence. */
  static long first(long sequence) {
    return sequence > LARGEST ? 1 : Math.max(1, sequence * PER_MESSAGE);
  }

  static long next(long last, long head) {
    return Math.max(last + 1, first(head));
  }
}
