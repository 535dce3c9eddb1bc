package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.poll.PollRequests;
import dev.sessionkeeper.postgres.settle.CompleteCall;
import dev.sessionkeeper.postgres.settle.RetryCall;
import dev.sessionkeeper.postgres.settle.SettleCall;
import dev.sessionkeeper.postgres.settle.SettleSessions;
import dev.sessionkeeper.postgres.settle.SettleWork;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends the settlements of one hold, in order, and updates its open deliveries.
 *
 * <p>I1: nothing takes effect behind a settlement that failed, because its message is still open.
 * I2: a settlement completes only after the open deliveries were updated.
 */
public final class SettleSession {
  private final SettleSessions settles;
  private final PollRequests polls;
  private final Hold hold;
  private final Set<Settled> settledAlready = new HashSet<>();
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  /**
   * The last completion that was sent, if no other settlement followed; valid for one count of
   * failures.
   */
  private @Nullable CompleteCall completing;

  private int completingSince;
  private CompletableFuture<Void> completed = CompletableFuture.completedFuture(null);

  SettleSession(SettleSessions settles, PollRequests polls, Hold hold) {
    this.settles = settles;
    this.polls = polls;
    this.hold = hold;
  }

  /** Sends settlements. The caller has the lock. */
  CompletableFuture<Void> send(List<Settled> settlements, Optional<SessionState.Write> state) {
    hold.deliveries.settle(settlements);
    if (settledAlready.containsAll(settlements)) {
      settlements.forEach(settledAlready::remove);
      hold.deliveries.settled(settlements);
      lookAgainForRetry(settlements);
      return CompletableFuture.completedFuture(null);
    }
    return areCompletions(settlements, state)
        ? complete(settlements)
        : sendAlone(settlements, state);
  }

  private CompletableFuture<Void> complete(List<Settled> settlements) {
    int failures = hold.deliveries.failures();
    if (completing != null && failures == completingSince && completing.join(settlements)) {
      return completed;
    }
    var next = new CompleteCall(hold.id, hold.epoch, settlements, voidAfter(failures), hold::fence);
    completing = next;
    completingSince = failures;
    completed = next.answer().whenComplete((done, error) -> finish(next.settlements(), error));
    last = completed;
    settles.complete(next);
    return completed;
  }

  /**
   * Returns the retry that these settlements are, if memory can count it: the session has no row,
   * and its message is in a batch.
   */
  Optional<Settled> retryInMemory(List<Settled> settlements, Optional<SessionState.Write> state) {
    if (settlements.size() != 1
        || state.isPresent()
        || !RetryCall.isFor(settlements.getFirst().settlement())) {
      return Optional.empty();
    }
    var retried = settlements.getFirst();
    hold.lock.lock();
    try {
      boolean isKnown =
          hold.kept instanceof SessionLease.InMemory in
              && in.cache().batches().isOpen(retried.sequence())
              && hold.fetched.attemptOf(retried.sequence()) > 0;
      return isKnown ? Optional.of(retried) : Optional.empty();
    } finally {
      hold.lock.unlock();
    }
  }

  /**
   * Sends a retry of a session in memory. The caller has the lock.
   *
   * @param persist gives the session its row, if only that can say what follows the retry
   */
  CompletableFuture<Void> retry(Settled retried, Runnable persist) {
    int tried = hold.fetched.attemptOf(retried.sequence());
    var settlements = List.of(retried);
    hold.deliveries.settle(settlements);
    completing = null;
    var voided = voidAfter(hold.deliveries.failures());
    var call = new RetryCall(hold.id, hold.epoch, retried, tried, voided, hold::fence);
    var finished =
        settles
            .retry(call)
            .thenCompose(
                done ->
                    call.way() == RetryCall.Way.NEEDS_ROW
                        ? retryInRow(settlements, voided, persist)
                        : CompletableFuture.<Void>completedFuture(null))
            .whenComplete((done, error) -> finishRetry(call, settlements, error));
    last = finished;
    return finished;
  }

  private CompletableFuture<Void> retryInRow(
      List<Settled> settlements, BooleanSupplier voided, Runnable persist) {
    var sent = new CompletableFuture<CompletableFuture<Void>>();
    // Not on the thread that settles: the row comes with a poll.
    var unused =
        Thread.ofVirtual()
            .name("keeper-retry")
            .start(
                () -> {
                  try {
                    persist.run();
                    var call =
                        new SettleCall(
                            hold.id, hold.epoch, false, settlements, false, Optional.empty());
                    sent.complete(settles.settle(call, voided));
                  } catch (RuntimeException e) {
                    sent.completeExceptionally(e);
                  }
                });
    return sent.thenCompose(answer -> answer);
  }

  private void finishRetry(RetryCall call, List<Settled> settlements, @Nullable Throwable error) {
    hold.lock.lock();
    try {
      finish(settlements, error instanceof CompletionException e ? e.getCause() : error);
      if (error == null) {
        hold.comesAgain(call.first(), call.way() == RetryCall.Way.IN_MEMORY);
      } else {
        hold.fetched.takeBackBehind(call.first());
        hold.news.signalAll();
      }
    } finally {
      hold.lock.unlock();
    }
  }

  /** Returns when everything that was sent is answered. */
  void awaitSent() {
    CompletableFuture<?> sent;
    hold.lock.lock();
    try {
      sent = last;
    } finally {
      hold.lock.unlock();
    }
    Futures.quietly(sent);
  }

  private CompletableFuture<Void> sendAlone(
      List<Settled> settlements, Optional<SessionState.Write> state) {
    completing = null;
    var call = new SettleCall(hold.id, hold.epoch, false, settlements, false, state);
    var finished =
        settles
            .settle(call, voidAfter(hold.deliveries.failures()))
            .whenComplete((done, error) -> finish(settlements, error));
    last = finished;
    lookAgainForRetry(settlements);
    return finished;
  }

  /**
   * Sets a timer for the retry. A retry without a delay needs one only if other consumers wait:
   * they may get the session next.
   */
  private void lookAgainForRetry(List<Settled> settlements) {
    if (!settlements.isEmpty()
        && settlements.getLast().settlement() instanceof Settlement.Retry retry) {
      var unused =
          last.thenRun(
              () -> {
                if (!retry.delay().isZero() || polls.isAnybodyWaiting()) {
                  polls.makeDueWithin(retry.delay());
                }
              });
    }
  }

  /** Returns whether all settlements are completions: the common case, which needs no row. */
  static boolean areCompletions(List<Settled> settlements, Optional<SessionState.Write> state) {
    return state.isEmpty() && settlements.stream().allMatch(SettleSession::isComplete);
  }

  private static boolean isComplete(Settled settled) {
    return settled.settlement() instanceof Settlement.Complete;
  }

  private BooleanSupplier voidAfter(int failures) {
    return () -> {
      hold.lock.lock();
      try {
        return hold.deliveries.failures() != failures;
      } finally {
        hold.lock.unlock();
      }
    };
  }

  /** Dead-letters messages that expired before they were handed out. The caller has the lock. */
  void expire(List<Long> sequences) {
    if (sequences.isEmpty()) {
      return;
    }
    sequences.forEach(hold.deliveries::settleUnseen);
    completing = null;
    var old = sequences.stream().map(next -> new Settled(next, Settlement.complete())).toList();
    var unused =
        settles
            .settle(SettleCall.expired(hold.id, hold.epoch, old))
            .whenComplete((done, error) -> finishUnseen(old, error));
  }

  private void finish(List<Settled> settlements, @Nullable Throwable error) {
    hold.lock.lock();
    try {
      if (error == null) {
        hold.deliveries.settled(settlements);
        if (!settlements.isEmpty() && isComplete(settlements.getLast())) {
          hold.fetched.settled(settlements.getLast().sequence());
        }
      } else if (SettleWork.isLost(error)) {
        hold.lost();
      } else {
        hold.deliveries.notSettled(settlements);
      }
    } finally {
      hold.lock.unlock();
    }
  }

  private void finishUnseen(List<Settled> settlements, @Nullable Throwable error) {
    hold.lock.lock();
    try {
      if (SettleWork.isLost(error)) {
        hold.lost();
      } else {
        hold.deliveries.settled(settlements);
      }
    } finally {
      hold.lock.unlock();
    }
  }

  /**
   * Waits until all earlier settlements of the hold are durable.
   *
   * @throws KeeperException.OutOfOrder if an earlier message could not be settled
   */
  public void awaitBefore(long sequence) {
    awaitSent();
    hold.lock.lock();
    try {
      if (!hold.deliveries.isNext(sequence)) {
        throw new KeeperException.OutOfOrder(hold.id, sequence, "the settlement before it failed");
      }
    } finally {
      hold.lock.unlock();
    }
  }

  /** Records messages that a transaction of the application has settled already. */
  public void settledByTransaction(List<Settled> settled) {
    hold.lock.lock();
    try {
      settledAlready.addAll(settled);
    } finally {
      hold.lock.unlock();
    }
  }
}
