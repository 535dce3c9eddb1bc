package dev.sessionkeeper.registry.receiver;

/** A fault that the receiver injects into one post. */
public enum Fault {
  NONE,
  /** The post is not applied, and answered with 503. */
  DOWN,
  /** The post is not applied, and answered with 429 and Retry-After. */
  TOO_MANY,
  /** The post is not applied, and answered with 422, which refuses it for good. */
  REFUSE,
  /** The post is applied, and answered with 500. */
  ERROR_AFTER_APPLYING,
  /** The post is applied, and not answered until the sender gives up. */
  SILENT_AFTER_APPLYING,
  /** The post is applied, and the connection is cut in place of an answer. */
  CUT_AFTER_APPLYING,
  /** The post is read and answered slowly, but finally applied and answered with 200. */
  DRIP
}
