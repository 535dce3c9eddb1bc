package dev.sessionkeeper.postgres.send;

/**
 * Describes whether the ids of messages that are stored together can have been used before. That
 * decides how the queue remembers them.
 */
public enum IdUse {
  /**
   * This process created all ids and uses them for the first time: one entry remembers them
   * together.
   */
  FIRST_TOGETHER,
  /** This process created all ids and uses them for the first time: an entry per id. */
  FIRST_EACH,
  /** Another sender may have used some of the ids. */
  ANY
}
