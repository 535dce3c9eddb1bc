package dev.sessionkeeper.github;

import java.time.Duration;

/**
 * The limits of a bot: sessions at once, the length of a hold, and the thresholds of alerts.
 *
 * @param maxConcurrentSessions sessions held at once
 * @param idleTimeout how long a held session without work is kept
 * @param maxDuration how long a session is held; then the current message is finished and the
 *     session released
 * @param queueDepthThreshold more waiting messages raise an alert
 * @param maxSizeInMegabytes a larger queue raises an alert; on a broker with quotas, the quota
 */
public record SessionLimits(
    int maxConcurrentSessions,
    Duration idleTimeout,
    Duration maxDuration,
    int queueDepthThreshold,
    int maxSizeInMegabytes) {
  public SessionLimits {
    if (idleTimeout.compareTo(maxDuration) > 0) {
      throw new IllegalArgumentException(
          "session_idle_timeout must not be longer than session_max_duration ("
              + maxDuration
              + "), was "
              + idleTimeout);
    }
  }

  /**
   * Returns the defaults: 50 sessions, idle 2 minutes, held 30 minutes, alerts at 100 messages and
   * 5,120 MB.
   */
  public static SessionLimits ofDefaults() {
    return new SessionLimits(50, Duration.ofMinutes(2), Duration.ofMinutes(30), 100, 5120);
  }
}
