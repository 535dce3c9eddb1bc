package dev.sessionkeeper;

import java.time.Instant;

/**
 * Exclusive ownership for a bounded time, of a session, a job or a delivery.
 *
 * <p>The epoch grows at every acquisition. Every write under a lease carries its epoch, and a store
 * that has seen a higher one refuses: an owner that was frozen cannot undo what its successor did.
 */
public record Lease(String resource, Owner owner, long epoch, Instant until) {
  public Lease {
    if (epoch < 1) {
      throw new IllegalArgumentException("epoch must be at least 1, was " + epoch);
    }
  }

  /** Returns the same lease with a later end. */
  public Lease until(Instant newEnd) {
    return new Lease(resource, owner, epoch, newEnd);
  }
}
