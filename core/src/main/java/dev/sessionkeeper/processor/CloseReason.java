package dev.sessionkeeper.processor;

/** The reason why a session was released. */
public enum CloseReason {
  /** No message came within the idle timeout. */
  IDLE,
  /** The session had no work, and other sessions waited for the slot. */
  DRAINED,
  /**
   * The hold reached its maximum duration, or its lease reached the longest time it may be renewed.
   */
  MAX_DURATION,
  /** The hold reached its maximum number of messages. */
  QUANTUM,
  /** The lease ran out or was taken. */
  LOCK_LOST,
  /** A hook, a settlement or the provider failed, or a message waits for its retry. */
  ERROR,
  /** The handler asked for the release, or the number of slots was lowered. */
  RELEASED,
  /** The processor is closing. */
  SHUTDOWN
}
