package dev.sessionkeeper.spi;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;

/** For providers that let a person step in. */
public interface OperableSessions {

  /**
   * The actions of an operator on a session. Every action except RESUME takes the session from the
   * owner that holds it.
   */
  enum Act {
    /** Pause: no consumer can accept the session until it is resumed. */
    PAUSE,
    /** Resume a paused or parked session. A head that waits for its retry becomes due now. */
    RESUME,
    /** Set it aside with everything in it until it is resumed. */
    PARK,
    /**
     * Take it from its owner; the current message is delivered again, without counting an attempt.
     */
    RELEASE,
    /** Make its first message a dead letter. */
    DEAD_LETTER_HEAD,
    /** Make all its messages dead letters, in order. */
    DEAD_LETTER_ALL
  }

  /**
   * Does it now.
   *
   * @param reason kept with the session or the dead letters, for the next person
   * @return how many messages became dead letters; for the other acts 1 if something changed and 0
   *     if not
   */
  int act(QueueName queue, SessionId session, Act act, String reason);
}
