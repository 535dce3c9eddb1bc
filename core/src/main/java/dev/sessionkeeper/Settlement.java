package dev.sessionkeeper;

import java.time.Duration;

/** The end of a delivery, as its handler decides. Exactly one settlement follows each delivery. */
public sealed interface Settlement {

  /** Done: forget the message and hand out the next one of its session. */
  record Complete() implements Settlement {}

  /**
   * Try the same message again later. The session waits, so its order holds.
   *
   * @param limited whether the poison policy decides after the last attempt; false retries without
   *     end
   * @param counted whether this delivery counts as an attempt
   * @param reason why, for the operator; may be blank
   */
  record Retry(Duration delay, boolean limited, boolean counted, String reason)
      implements Settlement {
    public Retry {
      Limits.requireNotNegative("delay", delay);
    }
  }

  /** Set the message aside for an operator, and continue with the session. */
  record DeadLetter(String reason, String error) implements Settlement {}

  /**
   * Set the session aside with all of its messages, this one first, until an operator resumes it.
   */
  record Park(String reason) implements Settlement {}

  /** Completes the message. */
  static Settlement complete() {
    return Constants.COMPLETE;
  }

  /** Retries the message after this delay, until the queue's attempts are used up. */
  static Settlement retryAfter(Duration delay) {
    return new Retry(delay, true, true, "");
  }

  /** As {@link #retryAfter(Duration)}, with a reason for the operator. */
  static Settlement retryAfter(Duration delay, String reason) {
    return new Retry(delay, true, true, reason);
  }

  /** Retries the message after this delay, however often it has failed. */
  static Settlement keepRetrying(Duration delay, String reason) {
    return new Retry(delay, false, true, reason);
  }

  /**
   * Retries the message after this delay and counts no attempt, because something other than the
   * message failed, such as the endpoint it is posted to.
   */
  static Settlement postpone(Duration delay, String reason) {
    return new Retry(delay, false, false, reason);
  }

  /** Sets the message aside. */
  static Settlement deadLetter(String reason) {
    return new DeadLetter(reason, "");
  }

  /** Sets the message aside, with the error that made it a dead letter. */
  static Settlement deadLetter(String reason, String error) {
    return new DeadLetter(reason, error);
  }

  /** Sets the whole session aside until an operator resumes it. */
  static Settlement park(String reason) {
    return new Park(reason);
  }
}

/** Shared instances of settlements without content. */
final class Constants {
  static final Settlement COMPLETE = new Settlement.Complete();

  private Constants() {}
}
