package dev.sessionkeeper;

import java.time.Duration;

/**
 * Everything the runtime reports to its caller. The family is closed: switch over it. Codes are in
 * docs/reference/errors.md.
 */
public abstract sealed class KeeperException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final String code;

  private KeeperException(String code, String message) {
    super("[" + code + "] " + message);
    this.code = code;
  }

  private KeeperException(String code, String message, Throwable cause) {
    super("[" + code + "] " + message, cause);
    this.code = code;
  }

  /** A stable identifier such as {@code SK-201}. */
  public String code() {
    return code;
  }

  /**
   * The store or broker did not answer. As far as is known, nothing was changed; trying again may
   * help.
   */
  public static final class Unavailable extends KeeperException {
    public Unavailable(String what, Throwable cause) {
      super("SK-101", what + " did not answer; try again", cause);
    }

    public Unavailable(String what) {
      super("SK-101", what + " did not answer; try again");
    }

    private Unavailable(Throwable cause, String sentence) {
      super("SK-101", sentence, cause);
    }

    /**
     * Returns the failure of a store that answers but cannot be used.
     *
     * @param sentence says why, and what to do
     */
    public static Unavailable because(String sentence, Throwable cause) {
      return new Unavailable(cause, sentence);
    }
  }

  /** The provider or processor was closed. */
  public static final class Closed extends KeeperException {
    public Closed(String what) {
      super("SK-102", what + " is closed");
    }
  }

  /**
   * The caller cannot know whether a call took effect, and must check before it repeats the call.
   */
  public static final class OutcomeUnknown extends KeeperException {
    public OutcomeUnknown(String what, Throwable cause) {
      super(
          "SK-103",
          what + " may or may not have taken effect; check the effect before you repeat the call",
          cause);
    }
  }

  /**
   * The lease expired, or another owner has the session. Nothing was changed; stop working on the
   * session.
   */
  public static final class LockLost extends KeeperException {
    public LockLost(String resource, long epoch) {
      super(
          "SK-201",
          "The lease on "
              + resource
              + " with epoch "
              + epoch
              + " is no longer held; nothing was changed, and its work is delivered to the next owner");
    }
  }

  /** A delivery was settled while an earlier one of its session is open. Nothing was changed. */
  public static final class OutOfOrder extends KeeperException {
    public OutOfOrder(SessionId session, long sequence, String why) {
      super(
          "SK-202",
          "Message " + sequence + " of session " + session + " cannot be settled now: " + why);
    }
  }

  /** The state has a newer version. Nothing was changed; read it and decide again. */
  public static final class StaleState extends KeeperException {
    public StaleState(SessionId session, long expected, long actual) {
      super(
          "SK-203",
          "The state of session " + session + " has version " + actual + ", not " + expected);
    }
  }

  /** A call exceeds a limit of the provider or of the queue. */
  public static final class LimitExceeded extends KeeperException {
    private final String limit;
    private final long allowed;
    private final long actual;

    public LimitExceeded(String limit, long allowed, long actual) {
      super("SK-301", limit + " is " + allowed + ", was " + actual);
      this.limit = limit;
      this.allowed = allowed;
      this.actual = actual;
    }

    public String limit() {
      return limit;
    }

    public long allowed() {
      return allowed;
    }

    public long actual() {
      return actual;
    }
  }

  /**
   * A message with a session was sent to an unordered queue, or a message without one to an ordered
   * queue; or a consumer used the wrong kind of receive.
   */
  public static final class SessionModeMismatch extends KeeperException {
    public SessionModeMismatch(QueueName queue, QueueMode mode, MessageId id) {
      super(
          "SK-302",
          "Queue "
              + queue
              + " is "
              + mode
              + ", so message "
              + id
              + (mode == QueueMode.ORDERED ? " needs a session" : " must not have a session"));
    }

    public SessionModeMismatch(QueueName queue, QueueMode mode, String call) {
      super("SK-302", "Queue " + queue + " is " + mode + " and has no " + call);
    }
  }

  /** There is no queue of that name. */
  public static final class UnknownQueue extends KeeperException {
    public UnknownQueue(QueueName queue) {
      super("SK-303", "There is no queue " + queue);
    }
  }

  /** A queue of that name exists with another mode. */
  public static final class QueueConflict extends KeeperException {
    public QueueConflict(QueueName queue, QueueMode existing) {
      super(
          "SK-304",
          "Queue "
              + queue
              + " exists with mode "
              + existing
              + "; the mode of a queue cannot change");
    }
  }

  /** The provider, or the codec that reads its body, refused a message for good. */
  public static final class Rejected extends KeeperException {
    public Rejected(String why) {
      super("SK-305", why);
    }

    public Rejected(String why, Throwable cause) {
      super("SK-305", why, cause);
    }
  }

  /** This list did not issue the page cursor. */
  public static final class InvalidCursor extends KeeperException {
    public InvalidCursor(String cursor) {
      super("SK-306", "Not a cursor of this list: " + Quoted.of(cursor));
    }
  }

  /** A bounded buffer stayed full. Nothing was taken; slow down and try again. */
  public static final class Overloaded extends KeeperException {
    public Overloaded(String what, Duration waited) {
      super("SK-307", what + " stayed full for " + waited + "; slow down");
    }
  }

  /** The provider cannot do this; its capabilities say so. */
  public static final class NotSupported extends KeeperException {
    public NotSupported(String provider, String what) {
      super("SK-308", "The provider " + provider + " cannot " + what);
    }
  }

  /** The configuration is wrong. An operator must correct it. */
  public static final class Misconfigured extends KeeperException {
    public Misconfigured(String what) {
      super("SK-401", what);
    }

    public Misconfigured(String what, Throwable cause) {
      super("SK-401", what, cause);
    }
  }
}
