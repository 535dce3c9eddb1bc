package dev.sessionkeeper.postgres.read;

/**
 * Sets when a process becomes a reader, and how much it reads at once.
 *
 * @param from the sessions that a process takes within a quarter of a second before it reads; zero
 *     to read at once
 * @param page the messages that it reads first from a backlog
 */
public record ReadingOptions(int from, int page) {
  /** Never reads, as a value of {@code from}. */
  static final int NEVER = Integer.MAX_VALUE;
}
