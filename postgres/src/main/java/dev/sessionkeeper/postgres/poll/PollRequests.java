package dev.sessionkeeper.postgres.poll;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Asks for polls of one queue. */
public interface PollRequests {
  /** Asks for another poll, whether or not a consumer waits. */
  void ask();

  /** Asks for a poll if a consumer waits or this process reads the queue. */
  void wake();

  /** Returns a future that completes at the end of a poll which begins from now on. */
  CompletableFuture<Void> join();

  /** Returns whether a consumer of this process waits for a session. */
  boolean isAnybodyWaiting();

  /** Gives cached sessions that are ready to waiting consumers. */
  void serveCached();

  /** Makes sessions ready after the delay, when a lease ends or a message becomes due. */
  void makeDueWithin(Duration delay);

  /** Applies expired leases and ended delays now, without waiting for a poll. */
  void makeDueNow();
}
