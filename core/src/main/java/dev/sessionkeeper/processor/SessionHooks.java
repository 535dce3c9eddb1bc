package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
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
   * @param queue the queue of the processor
   * @param session the session at hand; empty when none is known, as in a failed accept
   * @param delivery the message at hand, with its attempt; empty when the failure is about none
   * @param lockedUntil the end of the lease as last seen; empty when no lease is held
   */
  record ErrorContext(
      QueueName queue,
      Phase phase,
      Optional<SessionId> session,
      Optional<Delivery> delivery,
      Optional<Instant> lockedUntil) {

    /** Which attempt failed, from 1 on; 0 when the failure is about no message. */
    public int attempt() {
      return delivery.map(Delivery::attempt).orElse(0);
    }
  }

  /** The phase in which the processor failed. */
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
