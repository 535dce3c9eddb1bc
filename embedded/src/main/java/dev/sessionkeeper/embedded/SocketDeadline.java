package dev.sessionkeeper.embedded;

import dev.sessionkeeper.time.TimeSource;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;

/** The time that a read or write of a socket may still wait. Zero means no limit. */
final class SocketDeadline {
  private final int timeoutMillis;
  private final TimeSource time = TimeSource.system();
  private final long begun = time.nanoTime();

  SocketDeadline(int timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
  }

  /**
   * Returns the remaining time, at least one millisecond, or zero if there is no limit.
   *
   * @throws SocketTimeoutException if no time remains
   */
  long millisLeft() throws SocketTimeoutException {
    if (timeoutMillis == 0) {
      return 0;
    }
    long nanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis) - (time.nanoTime() - begun);
    if (nanos <= 0) {
      throw new SocketTimeoutException("PostgreSQL did not answer in " + timeoutMillis + " ms");
    }
    return Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
  }
}
