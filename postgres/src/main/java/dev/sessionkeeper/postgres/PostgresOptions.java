package dev.sessionkeeper.postgres;

/**
 * How a provider uses its database.
 *
 * @param maxConnections connections of its own pool, where the given source is none; one more
 *     listens
 * @param prefetch messages that come with a session when it is taken
 */
public record PostgresOptions(int maxConnections, int prefetch) {
  public PostgresOptions {
    if (maxConnections < 2 || maxConnections > 1000) {
      throw new IllegalArgumentException(
          "maxConnections must be 2 to 1000, was " + maxConnections);
    }
    if (prefetch < 1 || prefetch > 1000) {
      throw new IllegalArgumentException("prefetch must be 1 to 1000, was " + prefetch);
    }
  }

  /** 12 connections, 32 messages. */
  public static PostgresOptions ofDefaults() {
    return new PostgresOptions(12, 32);
  }
}
