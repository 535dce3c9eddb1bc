package dev.sessionkeeper.postgres.poll;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Asks for polls of one queue. */
public interface PollRequests {
  /** Asks for another poll, whether or not a consumer waits. */
  void ask();

  /** Asks for a poll if a consumer waits or this process reads the queue. */
  void wake();

  /** Completes when a poll that begins from now on is over. */
  CompletableFuture<Void> join();

  /** Returns whether a consumer of this process waits for a session. */
  boolean isAnybodyWaiting();

  /** Gives cached sessions that are ready to waiting consumers. */
  void serveCached();

  /** Makes sessions ready after the delay, when a lease ends or a message becomes due. */
  void makeDueWithin(Duration delay);

  /** Ends leases that ran out and delays that are over, without waiting for a poll. */
  void makeDueNow();
}
