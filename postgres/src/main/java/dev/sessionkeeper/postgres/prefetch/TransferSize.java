package dev.sessionkeeper.postgres.prefetch;

import java.time.Duration;

/**
 * Limits the bytes of payloads that one statement may bring, so that it takes a small part of a
 * lease, however slow the link is.
 */
public final class TransferSize {
  private static final long FIRST = 4L << 20;
  private static final long LEAST = 64L << 10;
  private static final long MOST = 64L << 20;

  /** A transfer that takes more than this part of a lease is too large. */
  private static final int LARGE_PART = 8;

  private static final int SMALL_PART = 64;

  private volatile long bytes = FIRST;

  long bytes() {
    return bytes;
  }

  /** Records the duration of a statement that brought this many bytes. */
  void took(long brought, long nanos, Duration lease) {
    if (brought < LEAST) {
      return; // Too little to measure the link.
    }
    if (nanos > lease.toNanos() / LARGE_PART) {
      bytes = Math.max(LEAST, Math.min(bytes, brought) / 2);
    } else if (nanos < lease.toNanos() / SMALL_PART && brought >= bytes / 2) {
      bytes = Math.min(MOST, bytes * 2);
    }
  }
}
