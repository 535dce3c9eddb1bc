package dev.sessionkeeper.postgres.prefetch;

import java.time.Duration;

/**
 * Limits how many bytes one queue may prefetch, by the budget of the provider and the speed of the
 * link.
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

  /** Returns the budget of this queue's prefetched payloads. */
  public PrefetchBudget.Share memory() {
    return memory;
  }

  /** Returns how many bytes of payloads a statement may bring now; zero without room. */
  public long bytes() {
    return Math.min(memory.room(), transfers.bytes());
  }

  /** Records the duration of a statement that brought this many bytes. */
  public void took(long brought, long nanos, Duration lease) {
    transfers.took(brought, nanos, lease);
  }
}
