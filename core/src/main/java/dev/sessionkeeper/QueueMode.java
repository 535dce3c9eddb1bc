package dev.sessionkeeper;

/** Whether the messages of a queue have sessions. Fixed when the queue is created. */
public enum QueueMode {
  /** Every message has a session, and sessions are handled in order. */
  ORDERED,
  /** No message has a session; each is its own lane. */
  UNORDERED;

  /** Refuses to speak of sessions where a queue has none. */
  public void requireSessions(QueueName queue) {
    if (this != ORDERED) {
      throw new KeeperException.SessionModeMismatch(queue, this, "sessions");
    }
  }

  /** Refuses to take single messages out of a queue with sessions. */
  public void requireNoSessions(QueueName queue) {
    if (this != UNORDERED) {
      throw new KeeperException.SessionModeMismatch(queue, this, "messages outside of sessions");
    }
  }
}
