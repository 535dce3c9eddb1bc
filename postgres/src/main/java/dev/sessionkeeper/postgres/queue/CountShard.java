package dev.sessionkeeper.postgres.queue;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Chooses the counter row to which a process adds, and changes to another row from time to time.
 * While an old snapshot keeps vacuum away, every version of a row stays, so a row that changed for
 * ever would become slower. Housekeeping adds the rows up.
 */
public final class CountShard {
  /** The most changes of one row. */
  private static final int MOST = 64;

  private long shard = fresh();
  private int uses;

  /** Returns the row to which the next statement adds. */
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
