package dev.sessionkeeper;

/** Decides what happens to a message that failed {@code maxDeliveryCount} attempts. */
public enum PoisonPolicy {
  /** Set the message aside and go on with the session. */
  DEAD_LETTER,
  /**
   * Set the session aside with all of its messages until an operator resumes it. A message of an
   * unordered queue has no session and becomes a dead letter.
   */
  PARK_SESSION,
  /** Keep trying at the last delay; the session waits. */
  BLOCK,
  /** As {@link #BLOCK}, and the processor that saw the failure stops. */
  STOP;

  /** The reason of messages and sessions that were set aside because all attempts were used. */
  public static final String USED_UP = "max delivery count reached";

  /**
   * Returns how a message ends after its last attempt.
   *
   * @param error the last error
   * @param again the settlement of a policy that keeps trying
   */
  public Settlement settlement(QueueMode mode, String error, Settlement again) {
    return settlement(mode, USED_UP, error, again);
  }

  /**
   * Returns how a message ends that is given up before its last attempt, for this reason.
   *
   * @param error the last error
   * @param again the settlement of a policy that keeps trying
   */
  public Settlement settlement(QueueMode mode, String reason, String error, Settlement again) {
    return switch (this) {
      case DEAD_LETTER -> Settlement.deadLetter(reason, error);
      case PARK_SESSION ->
          mode == QueueMode.ORDERED
              ? Settlement.park(error.isEmpty() ? reason : reason + ": " + error)
              : Settlement.deadLetter(reason, error);
      case BLOCK, STOP -> again;
    };
  }

  /** Returns whether the policy turns a message of a queue with this mode into a dead letter. */
  boolean setsAside(QueueMode mode) {
    return settlement(mode, "", Settlement.complete()) instanceof Settlement.DeadLetter;
  }
}
