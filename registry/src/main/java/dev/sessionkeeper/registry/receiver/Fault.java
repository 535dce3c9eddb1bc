package dev.sessionkeeper.registry.receiver;

/** A fault that the receiver injects into one post. */
public enum Fault {
  NONE,
  /** Not applied, answered 503. */
  DOWN,
  /** Not applied, answered 429 with Retry-After. */
  TOO_MANY,
  /** Not applied, answered 422: refused for good. */
  REFUSE,
  /** Applied, answered 500. */
  ERROR_AFTER_APPLYING,
  /** Applied, and no answer until the sender gives up. */
  SILENT_AFTER_APPLYING,
  /** Applied, and the connection is cut in place of an answer. */
  CUT_AFTER_APPLYING,
  /** Reads and answers slowly, but finally applies and answers 200. */
  DRIP
}
