package dev.sessionkeeper.spi;

import java.time.Instant;

/** The result of an attempt to lock a session. Not getting one is a result, not an error (S-10). */
public sealed interface AcceptResult {

  /** Locked; close it to let another owner take it. */
  record Accepted(HeldSession session) implements AcceptResult {}

  /** No session, or not this one, had work ready in the time given. */
  record NoSession() implements AcceptResult {}

  /** Another owner holds it, at least until then unless it is released. */
  record Locked(Instant until) implements AcceptResult {}

  /** The session is paused or parked. */
  record SetAside(SessionStatus status, String reason, Instant since) implements AcceptResult {}
}
