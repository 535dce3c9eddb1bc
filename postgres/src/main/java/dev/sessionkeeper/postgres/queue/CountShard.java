package dev.sessionkeeper.postgres.queue;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Chooses the counter row to which a process adds, and another one now and then. While an old
 * snapshot keeps vacuum away, every version of a row stays, and a row that changes for ever becomes
 * slower. Housekeeping adds the rows up.
 */
public final class CountShard {
  /** Changes of one row. */
  private static final int MOST = 64;

  private long shard = fresh();
  private int uses;

  /** The row to which the next statement adds. */
  public synchronized long next() {
    if (uses == MOST) {
      uses = 0;
      shard = fresh();
    }
    uses++;
    return shard;
  }

  private static long fresh() {
    return ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
  }
}
