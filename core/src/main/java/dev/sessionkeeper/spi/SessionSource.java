package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
   * Returns the memories of sessions that the caller holds; one whose lease is lost may be missing.
   * By default it asks for one after the other. A provider whose store can answer for many at once
   * should ask once.
   */
  default Map<SessionId, SessionState> states(List<HeldSession> held) {
    var states = new HashMap<SessionId, SessionState>();
    for (var session : held) {
      try {
        states.put(session.id(), session.state());
      } catch (KeeperException.LockLost e) {
        // Its next call tells the caller.
      }
    }
    return states;
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
