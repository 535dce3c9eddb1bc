package dev.sessionkeeper.postgres.prefetch;

import java.time.Duration;

/**
 * How much one queue may read ahead of its handlers: the budget of the provider and the speed of
 * the link limit it.
 */
public final class PrefetchRoom {
  private final PrefetchBudget.Share memory;
  private final TransferSize transfers = new TransferSize();
  private final int messages;

  /**
   * Creates the limits.
   *
   * @param messages the messages that a session brings when it is claimed
   */
  public PrefetchRoom(PrefetchBudget.Share memory, int messages) {
    this.memory = memory;
    this.messages = messages;
  }

  public int messages() {
    return messages;
  }

  /** The payloads of this queue in memory that no handler has yet. */
  public PrefetchBudget.Share memory() {
    return memory;
  }

  /** Returns how many bytes of payloads a statement may bring now; zero without room. */
  public long bytes() {
    return Math.min(memory.room(), transfers.bytes());
  }

  /** Records how long a statement took to bring so many bytes. */
  public void took(long brought, long nanos, Duration lease) {
    transfers.took(brought, nanos, lease);
  }
}
