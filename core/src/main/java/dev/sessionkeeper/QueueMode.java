package dev.sessionkeeper;

/** Says whether the messages of a queue have sessions. Fixed when the queue is created. */
public enum QueueMode {
  /** Every message has a session, and sessions are handled in order. */
  ORDERED,
  /** No message has a session; messages have no order. */
  UNORDERED;

  /** Refuses a session operation on an unordered queue. */
  public void requireSessions(QueueName queue) {
    if (this != ORDERED) {
      throw new KeeperException.SessionModeMismatch(queue, this, "sessions");
    }
  }

  /** Refuses to receive single messages from an ordered queue. */
  public void requireNoSessions(QueueName queue) {
    if (this != UNORDERED) {
      throw new KeeperException.SessionModeMismatch(queue, this, "messages outside of sessions");
    }
  }
}
