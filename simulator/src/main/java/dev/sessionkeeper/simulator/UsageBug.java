package dev.sessionkeeper.simulator;

/** Bugs planted into the model of jobs, metering and delivery. Most are of a published design. */
public enum UsageBug {
  /** A session is billed for the whole interval, also if it began in the middle of it. */
  WHOLE_INTERVAL_BILLED,
  /** Only active sessions are metered: the last slice of an ended one is lost. */
  ENDED_SESSIONS_FORGOTTEN,
  /** The end of the slice is read a second time for the watermark. */
  END_READ_TWICE,
  /** A session that is past its end is billed until a sweep ends it. */
  BILLED_AFTER_END,
  /** Every slice is rounded to six decimals. */
  SLICES_ROUNDED,
  /** Ledger rows and watermark are written in two transactions. */
  WATERMARK_APART,
  /** A batch that is sent again has another key. */
  NEW_KEY_FOR_EVERY_POST,
  /** A batch that is sent again is built anew from the ledger. */
  BODY_BUILT_ANEW,
  /** A late worker completes the run of another one. */
  COMPLETION_NOT_FENCED,
  /** The end of a run is never stored, so the same slot is run again and again. */
  NEVER_COMPLETED,
  /** A late worker that fails releases the job of its successor. */
  LATE_FAILURE_RELEASES,
  /** The next run is counted from the last heartbeat. */
  NEXT_RUN_FROM_HEARTBEAT,
  /**
   * A job that was planned while the clock was ahead waits until the clock reaches that time again.
   */
  JOB_STAYS_AHEAD_OF_CLOCK,
  /** One transaction looks up whether a key has a session; another one writes the session. */
  LOOKED_UP_BEFORE_INSERT,
  /** An upgrade ends the old session and begins the new one at two readings of the clock. */
  UPGRADE_READS_CLOCK_TWICE,
  /** The key of a session lacks its tenant. */
  TENANT_NOT_IN_KEY
}
