package dev.sessionkeeper;

/** Decides what happens to a message that failed as often as its queue allows. */
public enum PoisonPolicy {
  /** Set the message aside and go on with the session. */
  DEAD_LETTER,
  /**
   * Set the session aside with everything in it, the failed message first, until a person resumes
   * it.
   */
  PARK_SESSION,
  /** Keep trying at the last delay; the session waits. */
  BLOCK,
  /** As {@link #BLOCK}, and the processor that saw the failure stops. */
  STOP
}
