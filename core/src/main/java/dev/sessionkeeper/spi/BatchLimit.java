package dev.sessionkeeper.spi;

import dev.sessionkeeper.Limits;

/**
 * The most that one receive hands out. The first message is handed out whatever its size, so a
 * message larger than the limit does not block its queue.
 *
 * @param messages the most messages
 * @param bytes the most bytes of their bodies and properties together
 */
public record BatchLimit(int messages, long bytes) {
  public BatchLimit {
    if (messages < 1) {
      throw new IllegalArgumentException("max must be at least 1, was " + messages);
    }
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes must be at least 1, was " + bytes);
    }
  }

  /** Limits the number of messages, not their size. */
  public static BatchLimit of(int messages) {
    return new BatchLimit(messages, Long.MAX_VALUE);
  }

  /** Returns whether one more message fits behind those that were taken. */
  public boolean hasRoomFor(int messageBytes, int takenMessages, long takenBytes) {
    return takenMessages == 0 || (takenMessages < messages && takenBytes + messageBytes <= bytes);
  }

  /**
   * Returns how many messages fit even if each has the largest body of {@link Limits#DEFAULT}. For
   * providers that learn the size of a message only by receiving it.
   */
  public int messagesOfAnySize() {
    return (int) Math.max(1, Math.min(messages, bytes / Limits.DEFAULT.maxBodyBytes()));
  }
}
