package dev.sessionkeeper.spi;

/** Where a session with work stands. */
public enum SessionStatus {
  /** Has work and waits for an owner. */
  READY,
  /** An owner holds it. */
  HELD,
  /** Its head waits: for a retry, or for its earliest time. */
  WAITING,
  /** Set aside with everything in it, by the poison policy or a person, until resumed. */
  PARKED,
  /** Stopped by a person for a while, until resumed. */
  PAUSED
}
