package dev.sessionkeeper.postgres;

import java.time.Duration;

/**
 * How much one queue may read ahead of its handlers: the budget of the provider and the speed of
 * the link limit it.
 */
final class PrefetchRoom {
  private final BodyMemory.Share memory;
  private final TransferSize transfers = new TransferSize();
  private final int messages;

  /**
   * Measures.
   *
   * @param messages the messages that a session brings when it is claimed
   */
  PrefetchRoom(BodyMemory.Share memory, int messages) {
    this.memory = memory;
    this.messages = messages;
  }

  int messages() {
    return messages;
  }

  /** The payloads of this queue in memory that no handler has yet. */
  BodyMemory.Share memory() {
    return memory;
  }

  /** Returns how many bytes of payloads a statement may bring now; zero without room. */
  long bytes() {
    return Math.min(memory.room(), transfers.bytes());
  }

  /** Records how long a statement took to bring so many bytes. */
  void took(long brought, long nanos, Duration lease) {
    transfers.took(brought, nanos, lease);
  }
}
