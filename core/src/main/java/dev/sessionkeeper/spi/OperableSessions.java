package dev.sessionkeeper.spi;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;

/** For providers whose sessions an operator can pause, park, resume and release. */
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
    /** Set the session aside with all of its messages until an operator resumes it. */
    PARK,
    /**
     * Take the session from its owner. The current message is delivered again, without counting an
     * attempt.
     */
    RELEASE,
    /** Make the first message of the session a dead letter. */
    DEAD_LETTER_HEAD,
    /** Make all messages of the session dead letters, in order. */
    DEAD_LETTER_ALL
  }

  /**
   * Applies an action to a session.
   *
   * @param reason kept with the session or the dead letters, for the next operator
   * @return how many messages became dead letters; for other actions 1 if something changed and 0
   *     if not
   */
  int act(QueueName queue, SessionId session, Act act, String reason);
}
