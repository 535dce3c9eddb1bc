package dev.sessionkeeper.spi;

/** The status of a session. */
public enum SessionStatus {
  /** The session has work and waits for an owner. */
  READY,
  /** An owner holds the session. */
  HELD,
  /** The head of the session waits for a retry or its {@code notBefore}. */
  WAITING,
  /**
   * The poison policy, a handler or an operator set the session aside with all of its messages,
   * until it is resumed.
   */
  PARKED,
  /** An operator stopped the session until it is resumed. */
  PAUSED
}
