package dev.sessionkeeper.memory;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A message that is neither completed nor a dead letter. Guarded by the lock of its session. */
final class Stored {
  final Message message;
  final long sequence;
  final Instant enqueuedAt;
  final int replays;

  /** Attempts that have ended; an open delivery is one more. */
  int attempts;

  /** The earliest moment of its next delivery. */
  long dueAt;

  /**
   * When the message expires, unless its TTL is stopped; callers ask {@link SessionEntry#expiryOf}.
   */
  long expiresAt;

  /** The last error, for operators; null if there was none. */
  @Nullable Trouble trouble;

  Stored(
      Message message, long sequence, Instant enqueuedAt, long dueAt, long expiresAt, int replays) {
    this.message = message;
    this.sequence = sequence;
    this.enqueuedAt = enqueuedAt;
    this.dueAt = dueAt;
    this.expiresAt = expiresAt;
    this.replays = replays;
  }

  Delivery delivery() {
    return new Delivery(message, sequence, attempts + 1, enqueuedAt);
  }

  /** Returns the bytes of its payload and properties. */
  int size() {
    return message.size();
  }

  String lastError() {
    return trouble == null ? "" : trouble.error();
  }

  /** Why an attempt failed, and when. */
  record Trouble(String error, Instant since) {}
}
