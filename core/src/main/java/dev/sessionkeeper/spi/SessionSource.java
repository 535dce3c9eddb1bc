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
   * Locks the session with work that has waited longest; waits for one if there is none.
   *
   * @return {@link AcceptResult.Accepted}, or {@link AcceptResult.NoSession} if none had work in
   *     time
   */
  AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException;

  /**
   * Locks up to {@code most} sessions that have work; waits for the first one if there is none. By
   * default accepts one session after the other, until none is ready. A provider whose store can
   * lock many sessions in one step should override this.
   *
   * @return the sessions; empty if none had work in time
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
   * Returns the states of sessions that the caller holds; a session whose lease is lost may be
   * missing. By default reads one after the other. A provider whose store can answer for many at
   * once should override this.
   */
  default Map<SessionId, SessionState> states(List<HeldSession> held) {
    var states = new HashMap<SessionId, SessionState>();
    for (var session : held) {
      try {
        states.put(session.id(), session.state());
      } catch (KeeperException.LockLost e) {
        // The lease is lost; the caller's next call on that session says so.
      }
    }
    return states;
  }

  /**
   * Returns whether a session waits for an owner now. A hint for the owner of an idle session; a
   * provider that cannot tell returns false.
   */
  boolean hasReadySession();

  /**
   * Returns whether the source hands out no further session because a limit of held sessions is
   * reached. A hint for the owner of an idle session.
   */
  default boolean isFull() {
    return false;
  }
}
