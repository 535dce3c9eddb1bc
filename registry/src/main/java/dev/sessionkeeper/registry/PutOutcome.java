package dev.sessionkeeper.registry;

/** The answer to a request for a session. */
public sealed interface PutOutcome {
  /** The key had no active session. */
  record Created(RegisteredSession session) implements PutOutcome {}

  /** There is one of the same or a higher kind. */
  record Existing(RegisteredSession session) implements PutOutcome {}

  /** There was one of a lower kind; it ended at the instant this one began. */
  record Upgraded(RegisteredSession session) implements PutOutcome {}

  /** There is one of another tenant. Nothing of it is told. */
  record TenantMismatch() implements PutOutcome {}
}
