package dev.sessionkeeper.postgres;

import java.time.Instant;
import java.util.List;

/** The reader that keeps sessions in memory, as the holds of these sessions need to know it. */
interface SessionCache extends Reader {
  /** Gives a held session its row, for what only rows can do. */
  void persist(HeldLane session);

  /**
   * Takes a session back from its owner.
   *
   * @param leftover what was never handed out, in order
   * @param isClean whether no delivery of it is open
   * @return false when the session has a row by now and is given back there
   */
  boolean release(HeldLane session, List<FoundMessage> leftover, boolean isClean);

  /** Returns whether sessions in memory may be handed out: the lease of the reader has not ended. */
  boolean isSafe(long now);

  /** Returns the latest time that the database's clock may show now. */
  Instant momentAt(long now);
}
