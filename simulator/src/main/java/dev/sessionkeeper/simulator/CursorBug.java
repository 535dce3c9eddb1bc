package dev.sessionkeeper.simulator;

/** Bugs planted into the writing of cursors; most come from published drafts. */
public enum CursorBug {
  /** A delayed write of an older event replaces a newer one. */
  OLDER_OVERWRITES,
  /** An event that arrives while another one waits is dropped as backpressure. */
  NEWEST_DROPPED,
  /** The last event is written only when another one arrives. */
  LAST_WAITS_FOR_NEXT,
  /** A value whose attempts are used up is dropped and reported as saved. */
  DROPPED_AFTER_RETRIES,
  /** The cursor moves when the event is sent, not when it is acknowledged. */
  MOVES_AHEAD_OF_ACKNOWLEDGEMENT,
  /** The store answers before the value is durable. */
  ANSWERED_BEFORE_DURABLE,
  /** A worker that met a failure ends, and what it would have written is called saved. */
  WORKER_DIES,
  /** Closing waits for the store, however long that takes. */
  CLOSE_WAITS_FOR_STORE,
  /** Closing forgets waiting values, and reports that all are saved. */
  CLOSE_FORGETS
}
