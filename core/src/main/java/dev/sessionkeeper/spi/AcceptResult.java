package dev.sessionkeeper.spi;

import java.time.Instant;

/**
 * The result of an attempt to accept a session. Not getting one is a result, not an error (S-10).
 */
public sealed interface AcceptResult {

  /** The caller holds the session. Closing it lets another owner accept it. */
  record Accepted(HeldSession session) implements AcceptResult {}

  /** No session had work within the time given, or the chosen one had none. */
  record NoSession() implements AcceptResult {}

  /**
   * Another owner holds the session.
   *
   * @param until when its lease ends, unless the owner renews or releases it
   */
  record Locked(Instant until) implements AcceptResult {}

  /** The session is paused or parked. */
  record SetAside(SessionStatus status, String reason, Instant since) implements AcceptResult {}
}
