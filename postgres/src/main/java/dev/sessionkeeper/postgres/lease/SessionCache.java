package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.settle.Reader;
import java.time.Instant;
import java.util.List;

/** The reader that keeps sessions in memory, as the holds of these sessions see it. */
public interface SessionCache extends Reader {
  /** Persists a held session, for operations that need a row. */
  void persist(Hold hold);

  /**
   * Takes a session back from its owner.
   *
   * @param leftover the messages that were never handed out, in order
   * @param isClean whether no delivery is open
   * @return false if the session has a row by now, so that it must be given back there
   */
  boolean release(Hold hold, List<FoundMessage> leftover, boolean isClean);

  /**
   * Returns whether sessions in memory may be handed out: the lease of the reader has not ended.
   */
  boolean isSafe(long now);

  /** Returns the latest time that the database's clock may show now. */
  Instant momentAt(long now);
}
