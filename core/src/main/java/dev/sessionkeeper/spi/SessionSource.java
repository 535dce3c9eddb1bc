package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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
   * Locks up to so many sessions that have work ready; waits for the first one if there is none. By
   * default it takes one session after the other, until none is ready. A provider whose store can
   * lock many sessions in one step should do so.
   *
   * @return the sessions; empty when none turned up in time
   */
  default List<HeldSession> acceptUpTo(Owner owner, int most, Duration wait)
      throws InterruptedException {
    var held = new ArrayList<HeldSession>();
    var patience = wait;
    while (held.size() < most
        && acceptNext(owner, patience) instanceof AcceptResult.Accepted accepted) {
      held.add(accepted.session());
      patience = Duration.ZERO;
    }
    return held;
  }

  /**
   * Returns whether a session waits for an owner now. A hint for the owner of an idle session; a
   * provider that cannot tell says no.
   */
  boolean hasReadySession();

  /**
   * Returns whether no further session is handed out now, however many wait, because as many are
   * held as may be. A hint for the owner of an idle session.
   */
  default boolean isFull() {
    return false;
  }
}
