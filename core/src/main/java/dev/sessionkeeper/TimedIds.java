package dev.sessionkeeper;

import dev.sessionkeeper.time.TimeSource;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Creates UUIDs of version 7: milliseconds, part of a counter, bits that differ between processes,
 * and the rest of the counter.
 *
 * <p>The clock only makes ids that are created together neighbours in an index. If the clock is
 * wrong or goes back, ids stay unique: 58 bits are a permutation of the counter, and each process
 * begins at a random point of it.
 */
final class TimedIds {
  private static final AtomicLong COUNTER = new AtomicLong();
  private static final long SALT = new SecureRandom().nextLong();

  /**
   * Derived from the golden ratio and odd: adding this number repeatedly visits every 64-bit value
   * before one repeats.
   */
  private static final long STEP = 0x9E3779B97F4A7C15L;

  private static final long VERSION = 0x7000;
  private static final long VARIANT = 0x8000000000000000L;

  private TimedIds() {}

  /** The second halves of recent ids that were not sent yet. Each is at the index of its count. */
  private static final AtomicLongArray UNUSED = new AtomicLongArray(1 << 16);

  static UUID next() {
    long count = COUNTER.incrementAndGet();
    long time = TimeSource.system().millis() << 16;
    long end = VARIANT | ((mixed(SALT + count * STEP) >>> 2) & ~0xF) | ((count >>> 12) & 0xF);
    UNUSED.setRelease((int) (count & 0xFFFF), end);
    return new UUID(time | VERSION | (count & 0xFFF), end);
  }

  /** Returns true once for each id that was created here recently. */
  static boolean takeUnused(UUID id) {
    long end = id.getLeastSignificantBits();
    int place = (int) ((id.getMostSignificantBits() & 0xFFF) | (end & 0xF) << 12);
    return id.version() == 7 && UNUSED.compareAndSet(place, end, 0);
  }

  /** Mixes the bits of a number reversibly, so that different numbers stay different. */
  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
