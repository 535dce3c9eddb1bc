package dev.sessionkeeper.postgres.settle;

/**
 * The epoch that the database compares before it settles, so that a former owner changes nothing.
 */
public sealed interface Fence {
  /**
   * Fences a lease in memory by the epoch of its reader.
   *
   * @param epoch the reader's epoch when it handed the session out
   */
  record OfReader(Reader reader, long epoch) implements Fence {}

  /** Fences a lease in a row by the epoch of the session in that row. */
  record OfSession() implements Fence {}
}
