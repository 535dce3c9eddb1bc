package dev.sessionkeeper.spi;

import java.time.Duration;

/**
 * The numbers of a queue, without a scan of its messages.
 *
 * @param depth messages accepted and not yet completed or dead
 * @param readySessions sessions (or messages of an unordered queue) that wait for an owner
 * @param heldSessions sessions (or messages of an unordered queue) that an owner holds
 * @param deadLetters messages set aside
 * @param oldestAge how long the oldest message has waited; zero when there is none
 * @param waitingSessions sessions whose head waits for its retry or its earliest time
 * @param parkedSessions sessions set aside until a person resumes them
 * @param pausedSessions sessions that a person has stopped for a while
 */
public record QueueStats(
    long depth,
    long readySessions,
    long heldSessions,
    long deadLetters,
    Duration oldestAge,
    long waitingSessions,
    long parkedSessions,
    long pausedSessions) {

  /** The numbers of a queue without waiting, parked or paused sessions. */
  public QueueStats(
      long depth, long readySessions, long heldSessions, long deadLetters, Duration oldestAge) {
    this(depth, readySessions, heldSessions, deadLetters, oldestAge, 0, 0, 0);
  }
}
