package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.time.Instant;

/**
 * The held session as its handler sees it. Valid during the call it was given to, on that thread.
 */
public interface SessionContext {

  /** The session; for an unordered queue a name of its own for every message. */
  SessionId id();

  /**
   * Grows with every owner: put it into what you write elsewhere, and a late owner can be refused
   * there too.
   */
  long epoch();

  /** Returns whether the lease is still held, as far as this process knows. False is final. */
  boolean isLockHeld();

  /**
   * The end of the lease by the store's clock, as last seen. The processor renews the lease in
   * time, so it moves while the handler runs.
   */
  Instant lockedUntil();

  /** The session's memory. */
  SessionState state();

  /**
   * Replaces the session's memory now.
   *
   * @throws KeeperException.StaleState if another write has replaced that version
   */
  SessionState writeState(SessionState.Write write);

  /** Replaces the session's memory together with the settlement of the current message (S-09). */
  void writeStateOnSettle(SessionState.Write write);

  /** Releases the session after the current message, so that others come first. */
  void releaseSession();
}
