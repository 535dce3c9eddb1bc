package dev.sessionkeeper.coalescing;

import java.time.Duration;

/**
 * Decides how long values wait for their batch: about as long as a write takes.
 *
 * <p>So a slow store is busy for at most half of the time and gets larger batches; a failing one is
 * tried at most once per longest linger.
 */
final class AdaptLinger {
  private final long least;
  private final long most;
  private long smoothed;

  AdaptLinger(Duration least, Duration most) {
    this.least = least.toNanos();
    this.most = most.toNanos();
    this.smoothed = this.least;
  }

  void observe(Duration took, boolean succeeded) {
    smoothed = succeeded ? smoothed + (took.toNanos() - smoothed) / 4 : most;
  }

  long nanos() {
    return Math.clamp(smoothed, least, most);
  }
}
