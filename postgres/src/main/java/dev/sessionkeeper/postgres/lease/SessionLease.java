package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.postgres.settle.Fence;

/**
 * The place where the lease of a held session is kept. A lease begins in memory or as a row. It may
 * move from memory to a row, and from a row to a shared row, never back.
 */
public sealed interface SessionLease {
  /**
   * A lease in the memory of the reader; it ends with the reader's lease.
   *
   * @param readerEpoch the epoch of the reader that handed the session out; settlements are refused
   *     under any other epoch
   */
  record InMemory(SessionCache cache, long readerEpoch) implements SessionLease {
    @Override
    public Fence fence() {
      return new Fence.OfReader(cache, readerEpoch);
    }
  }

  /** A lease in a row; only this process knows the open deliveries. */
  record InRow() implements SessionLease {
    @Override
    public Fence fence() {
      return new Fence.OfSession();
    }
  }

  /** A lease in a row that other processes use too; the row lists the open deliveries. */
  record Shared(SharedSession session) implements SessionLease {
    @Override
    public Fence fence() {
      return new Fence.OfSession();
    }
  }

  /** Returns the fence of settlements under this lease. */
  Fence fence();
}
