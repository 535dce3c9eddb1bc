package dev.sessionkeeper.spi;

import dev.sessionkeeper.Message;
import java.time.Instant;

/**
 * A message set aside (D-01).
 *
 * @param id names the dead letter in its queue
 * @param attempts how often it was tried since it was sent, or since it was last replayed
 * @param lastError what the last attempt failed with; blank when it is not known
 * @param replays how often it was put back before
 */
public record DeadLetter(
    String id,
    Message message,
    long sequence,
    int attempts,
    String reason,
    String lastError,
    Instant enqueuedAt,
    Instant deadAt,
    int replays) {}
