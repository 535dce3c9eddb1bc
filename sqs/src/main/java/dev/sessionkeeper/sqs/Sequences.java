package dev.sessionkeeper.sqs;

import java.math.BigInteger;

/**
 * SQS numbers of 20 digits as ours.
 *
 * <p>They do not fit a long, but their lower 63 bits do, and keep the order as long as the numbers
 * of a queue do not pass a multiple of 2^63: they grow with the microseconds of the clock, so that
 * is centuries away. Emulators count from 1, which fits as it is.
 */
final class Sequences {
  private static final int ROOM_FOR_RECEIVES = 15;

  private Sequences() {}

  static long of(String sequenceNumber) {
    return new BigInteger(sequenceNumber).longValue() & Long.MAX_VALUE;
  }

  /**
   * The fencing token of whoever received this head for the n-th time: the head grows, or else the
   * count does. Past 15 receives of one head, and where the product does not fit, only the memory
   * of this process, or a state store, makes it grow.
   */
  static long epoch(long headSequence, int receives) {
    long base = headSequence & (Long.MAX_VALUE >> 4);
    return Math.max(1, (base << 4) + Math.min(receives, ROOM_FOR_RECEIVES));
  }
}
