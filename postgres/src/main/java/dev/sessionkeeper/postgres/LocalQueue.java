package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;

/** A queue as this process uses it. */
sealed interface LocalQueue extends AutoCloseable permits OrderedQueue, UnorderedQueue {

  /** Something may have come: whoever waits looks. */
  void wake();

  /**
   * Messages of this process are stored: whoever waits looks, here and elsewhere.
   *
   * @param areSendersHeldUp whether senders come as fast as they are answered
   */
  void sent(boolean areSendersHeldUp);

  /** Messages of another process are stored. */
  default void othersSent() {
    wake();
  }

  /** A session that this process holds has new messages. */
  void tellNews(SessionId session);

  @Override
  void close();
}
