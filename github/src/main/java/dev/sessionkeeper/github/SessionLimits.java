package dev.sessionkeeper.github;

import java.time.Duration;

/**
 * How many sessions a bot works on at once, for how long, and when a person hears of it.
 *
 * @param maxConcurrentSessions held at once
 * @param idleTimeout a held session without work is released after this
 * @param maxDuration then the current message is finished and the session released
 * @param queueDepthThreshold waiting messages over which an alert is raised
 * @param maxSizeInMegabytes size of the queue over which an alert is raised; where a broker has
 *     quotas, the quota
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

  /** 50 sessions, idle 2 minutes, held 30 minutes, alerts at 100 messages and 5,120 MB. */
  public static SessionLimits ofDefaults() {
    return new SessionLimits(50, Duration.ofMinutes(2), Duration.ofMinutes(30), 100, 5120);
  }
}
