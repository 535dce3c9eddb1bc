package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;

/** A queue as this process uses it. */
sealed interface LocalQueue extends AutoCloseable permits OrderedQueue, UnorderedQueue {

  /** Something may have come: whoever waits looks. */
  void wake();

  /** Senders of this process come as fast as they are answered, or not any more. */
  default void areSendersHeldUp(boolean areHeldUp) {}

  /** A session that this process holds has new messages. */
  void tellNews(SessionId session);

  @Override
  void close();
}
