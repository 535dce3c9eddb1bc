package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.time.Instant;

/**
 * The held session as its handler sees it. Valid on the handler's thread, until the handler
 * returns.
 */
public interface SessionContext {

  /** Returns the session; a message of an unordered queue has a unique one. */
  SessionId id();

  /**
   * Returns the fencing token, which grows with every owner. Write it with data in other systems,
   * so that they can refuse a former owner too.
   */
  long epoch();

  /**
   * Returns whether the lease is still held, as far as this process knows. Once false, the answer
   * stays false.
   */
  boolean isLockHeld();

  /**
   * Returns the end of the lease by the store's clock, as last seen. The processor renews the
   * lease, so the end moves while the handler runs.
   */
  Instant lockedUntil();

  /** Returns the state kept with the session. */
  SessionState state();

  /**
   * Replaces the session's state now.
   *
   * @throws KeeperException.StaleState if another write has replaced that version
   */
  SessionState writeState(SessionState.Write write);

  /** Replaces the session's state together with the settlement of the current message (S-09). */
  void writeStateOnSettle(SessionState.Write write);

  /** Releases the session after the current message, so that others come first. */
  void releaseSession();
}
