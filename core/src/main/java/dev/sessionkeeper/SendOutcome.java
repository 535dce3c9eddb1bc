package dev.sessionkeeper;

/**
 * The result of sending one message. A send that returns is durable on durable providers.
 */
public sealed interface SendOutcome {
  /** The sequence where the broker does not tell it to senders. */
  long UNKNOWN_SEQUENCE = 0;

  MessageId id();

  /** Stored now. */
  record Stored(MessageId id, long sequence) implements SendOutcome {}

  /** The same id was stored within the duplicate window; nothing was stored now. */
  record Duplicate(MessageId id, long sequence) implements SendOutcome {}

  /**
   * The provider took others of the batch but not this one; only providers without atomic batches
   * say so.
   */
  record Refused(MessageId id, String reason) implements SendOutcome {}
}
