package dev.sessionkeeper.sqs;

import java.math.BigInteger;

/**
 * Converts SQS's sequence numbers of 20 digits to ours.
 *
 * <p>They do not fit into a long, but their lower 63 bits do, and keep the order as long as a
 * queue's numbers do not pass a multiple of 2^63. The numbers grow with the microseconds of the
 * clock, so that is centuries away. Emulators count from 1, which fits unchanged.
 */
final class Sequences {
  private static final int ROOM_FOR_RECEIVES = 15;

  private Sequences() {}

  static long of(String sequenceNumber) {
    return new BigInteger(sequenceNumber).longValue() & Long.MAX_VALUE;
  }

  /**
   * Returns the fencing token of the consumer that received this head for the n-th time: it grows
   * because either the head or the count grows. After 15 receives of one head, or if the product
   * overflows, only the memory of this process, or a state store, makes it grow.
   */
  static long epoch(long headSequence, int receives) {
    long base = headSequence & (Long.MAX_VALUE >> 4);
    return Math.max(1, (base << 4) + Math.min(receives, ROOM_FOR_RECEIVES));
  }
}
