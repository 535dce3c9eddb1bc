package dev.sessionkeeper.processor.traps;

/** Mistakes that real session processors have made; each is found by the trap of the same place. */
enum Bug {
  IDLE_COUNTS_HANDLER_TIME,
  ACCEPT_FAILURE_ENDS_ALL,
  OPEN_FAILURE_IS_IGNORED,
  STOP_KEEPS_LEASES,
  BATCH_GOES_ON_AFTER_FAILURE,
  RELEASED_SESSION_IS_TAKEN_AGAIN,
  RETRY_GOES_TO_THE_TAIL,
  LOST_LOCK_IS_NOT_TOLD,
  SPINS_WHEN_NOTHING_IS_THERE,
  DEAD_LETTER_DELETES,
  ALL_WAIT_THE_SAME_TIME,
  STOP_WAITS_FOR_EVER
}
