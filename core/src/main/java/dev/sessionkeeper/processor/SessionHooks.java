package dev.sessionkeeper.processor;

import dev.sessionkeeper.SessionId;
import java.util.Optional;

/**
 * What an application may do around the handling of a session. Every method has an empty default.
 */
public interface SessionHooks {

  /** Hooks that do nothing. */
  SessionHooks NONE = new SessionHooks() {};

  /**
   * Before the first message of a hold. If it throws, no message of the session is handled in this
   * hold.
   */
  default void onSessionOpened(SessionContext session) throws Exception {}

  /**
   * After the last message of a hold, while the lease is still held unless the reason is LOCK_LOST.
   */
  default void onSessionClosed(SessionContext session, CloseReason reason) throws Exception {}

  /** Whenever something fails. It must not throw; if it does, that is logged. */
  default void onError(Throwable error, ErrorContext context) {}

  /**
   * Where it failed.
   *
   * @param session the session at hand; empty when none is known, as in a failed accept
   */
  record ErrorContext(Phase phase, Optional<SessionId> session) {}

  /** What the processor was doing. */
  enum Phase {
    ACCEPT,
    OPEN,
    RECEIVE,
    HANDLE,
    SETTLE,
    RENEW,
    CLOSE
  }
}
