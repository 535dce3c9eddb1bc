package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.Optional;

/** Application code around the handling of a session. Every method has an empty default. */
public interface SessionHooks {

  /** Hooks that do nothing. */
  SessionHooks NONE = new SessionHooks() {};

  /**
   * Runs before the first message of a hold. If the hook throws, no message of the session is
   * handled in this hold.
   */
  default void onSessionOpened(SessionContext session) throws Exception {}

  /**
   * Runs after the last message of a hold. The lease is still held unless the reason is LOCK_LOST.
   */
  default void onSessionClosed(SessionContext session, CloseReason reason) throws Exception {}

  /** Runs after each failure. An exception of this hook is logged. */
  default void onError(Throwable error, ErrorContext context) {}

  /**
   * Where a failure happened.
   *
   * @param queue the queue of the processor
   * @param session the session; empty if none is known, as in a failed accept
   * @param delivery the message with its attempt; empty if the failure is about none
   * @param lockedUntil the end of the lease as last seen; empty if no lease is held
   */
  record ErrorContext(
      QueueName queue,
      Phase phase,
      Optional<SessionId> session,
      Optional<Delivery> delivery,
      Optional<Instant> lockedUntil) {

    /** Returns which attempt failed, from 1 on; 0 when the failure is about no message. */
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
