package dev.sessionkeeper.postgres;

/**
 * The options of a provider on PostgreSQL.
 *
 * @param maxConnections the size of the pool that the provider creates if the given source is no
 *     pool; listening takes one connection more
 * @param prefetch the messages that come with a session when it is claimed
 * @param migrate whether the provider creates and updates its tables; otherwise the application has
 *     called {@code Migrations.apply(source, "queues")}
 * @param keepHouse whether the provider runs housekeeping on a timer of its own; otherwise the
 *     application calls {@link PostgresQueueProvider#keepHouse}
 * @param reading when a process reads its buckets of a queue into memory
 * @param bodyMemory the most bytes of prefetched payloads, over all queues of the provider; a queue
 *     without prefetched payloads may always read one message
 */
public record PostgresOptions(
    int maxConnections,
    int prefetch,
    boolean migrate,
    boolean keepHouse,
    Reading reading,
    long bodyMemory) {
  /** Disables readers, as a value of {@code carryFrom}. */
  public static final int NEVER = Integer.MAX_VALUE;

  /**
   * When a process reads its buckets of a queue into memory.
   *
   * @param carryFrom the sessions that the process takes within a quarter of a second before it
   *     becomes a reader; zero to read at once, {@link #NEVER} never to read
   * @param page the messages in the first page of a backlog; later pages are four times as large
   */
  public record Reading(int carryFrom, int page) {
    public Reading {
      if (carryFrom < 0) {
        throw new IllegalArgumentException("carryFrom must not be negative, was " + carryFrom);
      }
      if (page < 1 || page > 65_536) {
        throw new IllegalArgumentException("page must be 1 to 65536, was " + page);
      }
    }
  }

  public PostgresOptions {
    if (bodyMemory < 1) {
      throw new IllegalArgumentException("bodyMemory must be at least 1, was " + bodyMemory);
    }
    if (maxConnections < 2 || maxConnections > 1000) {
      throw new IllegalArgumentException("maxConnections must be 2 to 1000, was " + maxConnections);
    }
    if (prefetch < 1 || prefetch > 1000) {
      throw new IllegalArgumentException("prefetch must be 1 to 1000, was " + prefetch);
    }
  }

  /**
   * Returns the defaults: 12 connections, 32 messages, 64 MB of prefetched payloads, migrations at
   * the start.
   */
  public static PostgresOptions ofDefaults() {
    return new PostgresOptions(12, 32, true, true, new Reading(32, 4096), 64L << 20);
  }

  public PostgresOptions withMaxConnections(int count) {
    return new PostgresOptions(count, prefetch, migrate, keepHouse, reading, bodyMemory);
  }

  public PostgresOptions withPrefetch(int count) {
    return new PostgresOptions(maxConnections, count, migrate, keepHouse, reading, bodyMemory);
  }

  public PostgresOptions withoutMigration() {
    return new PostgresOptions(maxConnections, prefetch, false, keepHouse, reading, bodyMemory);
  }

  public PostgresOptions withoutHousekeeping() {
    return new PostgresOptions(maxConnections, prefetch, migrate, false, reading, bodyMemory);
  }

  public PostgresOptions withCarryFrom(int sessions) {
    return new PostgresOptions(
        maxConnections,
        prefetch,
        migrate,
        keepHouse,
        new Reading(sessions, reading.page),
        bodyMemory);
  }

  public PostgresOptions withPage(int messages) {
    return new PostgresOptions(
        maxConnections,
        prefetch,
        migrate,
        keepHouse,
        new Reading(reading.carryFrom, messages),
        bodyMemory);
  }

  /** Sets the most bytes of prefetched payloads. The default is 64 MB. */
  public PostgresOptions withBodyMemory(long bytes) {
    return new PostgresOptions(maxConnections, prefetch, migrate, keepHouse, reading, bytes);
  }
}
