package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;

/**
 * Keeps what SQS has no place for: the memory of sessions, and an epoch that grows across
 * processes. Optional; without it sessions have no state.
 *
 * <p>Implementations are safe for use by many threads.
 */
public interface SessionStateStore {

  /**
   * Registers a new owner of the session.
   *
   * @return its epoch: higher than every earlier one, and at least {@code atLeast}
   */
  long open(QueueName queue, SessionId session, long atLeast);

  /** The session's state; {@link SessionState#none()} when there is none. */
  SessionState read(QueueName queue, SessionId session);

  /**
   * Replaces the state, if no newer owner is registered and the version matches.
   *
   * @return the state as it is now
   * @throws KeeperException.LockLost if there is a newer owner
   * @throws KeeperException.StaleState if the version does not match
   */
  SessionState write(QueueName queue, SessionId session, long epoch, SessionState.Write write);

  /** Deletes the state of all sessions of a queue that was deleted. */
  void forget(QueueName queue);
}
