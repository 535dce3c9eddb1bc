package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionId;
import java.util.concurrent.CompletableFuture;

/** A call of the batch that settles sessions. */
public sealed interface SettlementCall permits CompleteCall, GiveBackCall, MixedCall, RetryCall {
  SessionId session();

  CompletableFuture<Void> answer();

  /** Returns whether an earlier call has failed since this one was sent. */
  default boolean isVoid() {
    return false;
  }

  /** Returns the first message that the call is about. */
  default long first() {
    return 0;
  }
}
