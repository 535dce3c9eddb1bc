package dev.sessionkeeper.client;

import dev.sessionkeeper.KeeperException;

/** Gets the events of a stream, one after the other, on the thread of the stream. */
@FunctionalInterface
public interface EventHandler {

  /**
   * An event. It counts as handled when this returns; when it throws, the stream is read again from
   * this event on.
   */
  void onEvent(StreamedEvent event) throws Exception;

  /** Events between these two are gone, because they are older than what the server keeps. */
  default void onGap(long had, long first) {}

  /** The connection is there, or there again. */
  default void onConnected() {}

  /** The connection is not there; it is tried again after the pause. */
  default void onDisconnected(String why, java.time.Duration pause) {}

  /** The server refuses the stream for good; nothing more will come. */
  default void onRefused(KeeperException why) {}
}
