package dev.sessionkeeper.processor;

/** Why a session was given back. */
public enum CloseReason {
  /** No work came for the idle timeout. */
  IDLE,
  /** It had no work and other sessions waited for the slot. */
  DRAINED,
  /** It was held for the maximum duration, or as long as its lock may be renewed. */
  MAX_DURATION,
  /** It had its share of messages for one hold. */
  QUANTUM,
  /** The lease ran out or was taken. */
  LOCK_LOST,
  /** A hook, a settlement or the provider failed; or a message waits for its retry. */
  ERROR,
  /** The handler asked for it, or there are fewer slots now. */
  RELEASED,
  /** The processor is closing. */
  SHUTDOWN
}
