package dev.sessionkeeper.spi;

import java.time.Duration;

/**
 * The numbers of a queue, read without a scan of its messages.
 *
 * @param depth messages that are neither completed nor dead letters
 * @param readySessions sessions (or messages of an unordered queue) that wait for an owner
 * @param heldSessions sessions (or messages of an unordered queue) that an owner holds
 * @param deadLetters messages set aside
 * @param oldestAge how long the oldest message has waited; zero if there is none
 * @param waitingSessions sessions whose head waits for its retry or its {@code notBefore}
 * @param parkedSessions sessions set aside until an operator resumes them
 * @param pausedSessions sessions that an operator has paused
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

  /** Creates the numbers of a queue without waiting, parked or paused sessions. */
  public QueueStats(
      long depth, long readySessions, long heldSessions, long deadLetters, Duration oldestAge) {
    this(depth, readySessions, heldSessions, deadLetters, oldestAge, 0, 0, 0);
  }
}
