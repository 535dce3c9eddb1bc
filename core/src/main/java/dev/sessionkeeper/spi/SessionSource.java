package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import java.time.Duration;

/** Hands out the sessions of one queue, each to one owner at a time. */
public interface SessionSource {

  /**
   * Locks the session that has waited longest with work ready; waits for one if there is none.
   *
   * @return {@link AcceptResult.Accepted}, or {@link AcceptResult.NoSession} when none turned up in
   *     time
   */
  AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException;

  /**
   * Whether a session waits for an owner now. A hint for whoever holds an idle one; a provider that
   * cannot tell says no.
   */
  boolean hasReadySession();

  /**
   * Returns whether no further session is handed out now, however many wait, because as many are
   * held as may be. A hint for whoever holds an idle one.
   */
  default boolean isFull() {
    return false;
  }
}
