package dev.sessionkeeper.coalescing;

import java.time.Duration;

/**
 * Decides what {@code submit} does when the writer is full. A newer value of a held key always
 * fits.
 */
public sealed interface WhenFull {

  /** Waits for room, then rejects. */
  record Block(Duration timeout) implements WhenFull {
    public Block {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException("timeout must be longer than zero, was " + timeout);
      }
    }
  }

  /** Rejects at once: for callers that must not wait, such as event loops. */
  record Reject() implements WhenFull {}

  /** The caller writes its value itself, at the store's speed. */
  record CallerRuns() implements WhenFull {}
}
