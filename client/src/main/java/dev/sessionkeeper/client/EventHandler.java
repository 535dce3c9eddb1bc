package dev.sessionkeeper.client;

import dev.sessionkeeper.KeeperException;

/** Receives the events of a stream, one after the other, on the stream's thread. */
@FunctionalInterface
public interface EventHandler {

  /**
   * Handles an event. The event counts as handled when this method returns; if it throws, the
   * stream is read again from this event.
   */
  void onEvent(StreamedEvent event) throws Exception;

  /** Events between these two were deleted, because they are older than the server's retention. */
  default void onGap(long had, long first) {}

  /** The stream was connected or reconnected. */
  default void onConnected() {}

  /** The stream was disconnected, and reconnects after the pause. */
  default void onDisconnected(String why, java.time.Duration pause) {}

  /** The server refuses the stream for good; no further event will come. */
  default void onRefused(KeeperException why) {}
}
