package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.postgres.settle.Fence;

/**
 * Where the lease of a held session is kept. A lease begins in memory or as a row, and changes in
 * this order only.
 */
public sealed interface SessionLease {
  /**
   * In the memory of the process that reads the queue; the lease ends with that of the reader.
   *
   * @param readerEpoch the epoch of the reader that handed the session out; under no other one is
   *     it settled
   */
  record InMemory(SessionCache cache, long readerEpoch) implements SessionLease {
    @Override
    public Fence fence() {
      return new Fence.OfReader(cache, readerEpoch);
    }
  }

  /** In a row of its own; this process knows the open deliveries. */
  record InRow() implements SessionLease {
    @Override
    public Fence fence() {
      return new Fence.OfSession();
    }
  }

  /** In a row that other processes use too; the row has the open deliveries. */
  record Shared(SharedSession session) implements SessionLease {
    @Override
    public Fence fence() {
      return new Fence.OfSession();
    }
  }

  /** Returns what settlements under this lease are fenced by. */
  Fence fence();
}
