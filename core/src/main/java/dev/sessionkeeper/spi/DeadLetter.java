package dev.sessionkeeper.spi;

import dev.sessionkeeper.Message;
import java.time.Instant;

/**
 * A message that was set aside (D-01).
 *
 * @param id identifies the dead letter in its queue
 * @param attempts how often it was tried since it was sent, or since its last replay
 * @param lastError the error of the last attempt; blank if unknown
 * @param replays how often it was replayed before
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
