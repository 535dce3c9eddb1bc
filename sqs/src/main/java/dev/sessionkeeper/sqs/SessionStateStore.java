package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;

/**
 * Stores what SQS cannot: the state of sessions, and an epoch that grows across processes.
 * Optional; without it sessions have no state.
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

  /** Returns the session's state; {@link SessionState#none()} if there is none. */
  SessionState read(QueueName queue, SessionId session);

  /**
   * Replaces the state, if no newer owner is registered and the version matches.
   *
   * @return the new state
   * @throws KeeperException.LockLost if there is a newer owner
   * @throws KeeperException.StaleState if the version does not match
   */
  SessionState write(QueueName queue, SessionId session, long epoch, SessionState.Write write);

  /** Deletes the states of all sessions of a deleted queue. */
  void forget(QueueName queue);
}
