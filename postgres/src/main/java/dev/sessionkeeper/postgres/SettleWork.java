package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What is to be done to one held session within a group: messages completed, perhaps its end. */
final class SettleWork {
  private final SessionId session;
  private final long epoch;
  private final boolean isCarried;
  private final List<long[]> done = new ArrayList<>();
  private final List<CompletableFuture<Void>> answers = new ArrayList<>();
  private boolean isFreed;

  SettleWork(SessionId session, long epoch, boolean isCarried) {
    this.session = session;
    this.epoch = epoch;
    this.isCarried = isCarried;
  }

  SessionId session() {
    return session;
  }

  long epoch() {
    return epoch;
  }

  /** Whether it had no lane when its turn came. */
  boolean isCarried() {
    return isCarried;
  }

  boolean isFreed() {
    return isFreed;
  }

  List<long[]> done() {
    return done;
  }

  /** False when it is of another hold. */
  boolean complete(CompleteCall call) {
    if (call.epoch() != epoch) {
      return false;
    }
    done.add(call.take());
    answers.add(call.answer());
    return true;
  }

  /** False when it is of another hold. */
  boolean free(long ofEpoch, CompletableFuture<Void> answer) {
    if (ofEpoch != epoch) {
      return false;
    }
    isFreed = true;
    answers.add(answer);
    return true;
  }

  void succeed() {
    answers.forEach(answer -> answer.complete(null));
  }

  void fail(RuntimeException e) {
    answers.forEach(answer -> answer.completeExceptionally(e));
  }
}
