package dev.sessionkeeper;

/** Whether the messages of a queue have sessions. Fixed when the queue is created. */
public enum QueueMode {
  /** Every message has a session, and sessions are handled in order. */
  ORDERED,
  /** No message has a session; each is its own lane. */
  UNORDERED
}
