package dev.sessionkeeper.spi;

import java.time.Duration;

/**
 * The numbers of a queue, without a scan of its messages.
 *
 * @param depth messages accepted and not yet completed or dead
 * @param readySessions sessions (or messages of an unordered queue) that wait for an owner
 * @param heldSessions sessions (or messages of an unordered queue) in somebody's hands
 * @param deadLetters messages set aside
 * @param oldestAge how long the oldest message has waited; zero when there is none
 */
public record QueueStats(
    long depth, long readySessions, long heldSessions, long deadLetters, Duration oldestAge) {}
