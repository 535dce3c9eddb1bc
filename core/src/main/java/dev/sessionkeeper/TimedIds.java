package dev.sessionkeeper;

import dev.sessionkeeper.time.TimeSource;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * UUIDs of version 7: milliseconds, then a counter, then bits that tell processes apart.
 *
 * <p>The clock only brings neighbours together. If it is wrong, or goes back, ids stay different:
 * the last part is a permutation of the counter, and each process begins at a random point of it.
 */
final class TimedIds {
  private static final AtomicLong COUNTER = new AtomicLong();
  private static final long SALT = new SecureRandom().nextLong();

  /** The golden ratio: steps of it visit every number before they come back to the first. */
  private static final long STEP = 0x9E3779B97F4A7C15L;

  private static final long VERSION = 0x7000;
  private static final long VARIANT = 0x8000000000000000L;

  private TimedIds() {}

  static UUID next() {
    long count = COUNTER.incrementAndGet();
    long time = TimeSource.system().millis() << 16;
    return new UUID(time | VERSION | (count & 0xFFF), VARIANT | (mixed(SALT + count * STEP) >>> 2));
  }

  /** Spreads every bit over all others, and can be undone: different stays different. */
  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
