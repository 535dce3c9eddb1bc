package dev.sessionkeeper;

/**
 * The result of sending one message. A send that returns is durable on durable providers.
 */
public sealed interface SendOutcome {
  /** Stands for a sequence number that the broker does not tell senders. */
  long UNKNOWN_SEQUENCE = 0;

  MessageId id();

  /** The message was stored. */
  record Stored(MessageId id, long sequence) implements SendOutcome {}

  /**
   * A message with this id was stored within the duplicate window; this one was not stored.
   */
  record Duplicate(MessageId id, long sequence) implements SendOutcome {}

  /**
   * The provider refused this message and took others of the batch. Only providers without atomic
   * batches return it.
   */
  record Refused(MessageId id, String reason) implements SendOutcome {}
}
