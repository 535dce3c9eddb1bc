package dev.sessionkeeper.postgres.settle;

/** What the database compares before it settles, so that a former owner changes nothing. */
public sealed interface Fence {
  /**
   * The lease is in memory: the epoch of the reader that handed the session out is compared.
   *
   * @param epoch the reader's epoch when it handed the session out
   */
  record OfReader(Reader reader, long epoch) implements Fence {}

  /** The lease is a row: the epoch of the session in that row is compared. */
  record OfSession() implements Fence {}
}
