package dev.sessionkeeper.postgres.send;

/**
 * What a process knows about the ids of messages that leave together, and so how the queue
 * remembers them.
 */
public enum IdUse {
  /** This process made all ids and uses them for the first time: they are remembered together. */
  FIRST_TOGETHER,
  /** This process made all ids and uses them for the first time: each is remembered on its own. */
  FIRST_EACH,
  /** Another sender may have used the ids. */
  ANY
}
