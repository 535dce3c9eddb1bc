package dev.sessionkeeper.registry;

/** The answer to a request for a session. */
public sealed interface PutOutcome {
  /** The key had no active session, and one was created. */
  record Created(RegisteredSession session) implements PutOutcome {}

  /** The key has an active session of the same or a higher kind. */
  record Existing(RegisteredSession session) implements PutOutcome {}

  /**
   * The key had an active session of a lower kind, which ended at the instant the new one began.
   */
  record Upgraded(RegisteredSession session) implements PutOutcome {}

  /** The key has an active session of another tenant, about which the caller learns nothing. */
  record TenantMismatch() implements PutOutcome {}
}
