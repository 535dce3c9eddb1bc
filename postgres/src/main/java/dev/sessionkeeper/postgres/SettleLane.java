package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends the settlements of one held lane, in order, and keeps what is in hand in step with them.
 *
 * <p>I1: nothing takes effect behind a settlement that failed, because its message is still open.
 * I2: a settlement is seen as finished only after what is in hand says so.
 */
final class SettleLane {
  private final SettleSessions settles;
  private final PollRequests polls;
  private final Hold hold;
  private final Set<Settled> settledAlready = new HashSet<>();
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  /** The one that was sent last, if nothing else was since, and after how many failures. */
  private @Nullable CompleteCall completing;

  private int completingSince;
  private CompletableFuture<Void> completed = CompletableFuture.completedFuture(null);

  SettleLane(SettleSessions settles, PollRequests polls, Hold hold) {
    this.settles = settles;
    this.polls = polls;
    this.hold = hold;
  }

  /** Sends them; the caller has the lock. */
  CompletableFuture<Void> send(List<Settled> settlements, Optional<SessionState.Write> state) {
    hold.inHand.settle(settlements);
    if (settledAlready.containsAll(settlements)) {
      settlements.forEach(settledAlready::remove);
      hold.inHand.settled(settlements);
      lookAgainForRetry(settlements);
      return CompletableFuture.completedFuture(null);
    }
    return areCompletions(settlements, state)
        ? complete(settlements)
        : sendAlone(settlements, state);
  }

  private CompletableFuture<Void> complete(List<Settled> settlements) {
    int failures = hold.inHand.failures();
    if (completing != null && failures == completingSince && completing.join(settlements)) {
      return completed;
    }
    var next =
        new CompleteCall(hold.id, hold.epoch, settlements, voidAfter(failures), hold::fence);
    completing = next;
    completingSince = failures;
    completed = next.answer().whenComplete((done, error) -> finish(next.settlements(), error));
    last = completed;
    settles.complete(next);
    return completed;
  }

  private CompletableFuture<Void> sendAlone(
      List<Settled> settlements, Optional<SessionState.Write> state) {
    completing = null;
    var call = new SettleCall(hold.id, hold.epoch, false, settlements, false, state);
    var finished =
        settles
            .settle(call, voidAfter(hold.inHand.failures()))
            .whenComplete((done, error) -> finish(settlements, error));
    last = finished;
    lookAgainForRetry(settlements);
    return finished;
  }

  /** A message that is tried again must not wait for the next look. */
  private void lookAgainForRetry(List<Settled> settlements) {
    if (!settlements.isEmpty()
        && settlements.getLast().settlement() instanceof Settlement.Retry retry) {
      var unused = last.thenRun(() -> polls.makeDueWithin(retry.delay()));
    }
  }

  /** Whether this is the common case, which needs no lane. */
  static boolean areCompletions(List<Settled> settlements, Optional<SessionState.Write> state) {
    return state.isEmpty() && settlements.stream().allMatch(SettleLane::isComplete);
  }

  private static boolean isComplete(Settled settled) {
    return settled.settlement() instanceof Settlement.Complete;
  }

  private BooleanSupplier voidAfter(int failures) {
    return () -> {
      hold.lock.lock();
      try {
        return hold.inHand.failures() != failures;
      } finally {
        hold.lock.unlock();
      }
    };
  }

  /**
   * Sets messages aside that have become too old before anybody had them; the caller has the lock.
   */
  void expire(List<Long> sequences) {
    if (sequences.isEmpty()) {
      return;
    }
    sequences.forEach(hold.inHand::settleUnseen);
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
        hold.inHand.settled(settlements);
      } else if (SettleWork.isLost(error)) {
        hold.lost();
      } else {
        hold.inHand.notSettled(settlements);
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
        hold.inHand.settled(settlements);
      }
    } finally {
      hold.lock.unlock();
    }
  }

  /**
   * Waits until everything before this message is durable.
   *
   * @throws KeeperException.OutOfOrder if something before it could not be settled
   */
  void awaitBefore(long sequence) {
    CompletableFuture<?> sent;
    hold.lock.lock();
    try {
      sent = last;
    } finally {
      hold.lock.unlock();
    }
    Waits.quietly(sent);
    hold.lock.lock();
    try {
      if (!hold.inHand.isNext(sequence)) {
        throw new KeeperException.OutOfOrder(hold.id, sequence, "the settlement before it failed");
      }
    } finally {
      hold.lock.unlock();
    }
  }

  /** A transaction of the application has settled these messages; the processor need not. */
  void settledByTransaction(List<Settled> settled) {
    hold.lock.lock();
    try {
      settledAlready.addAll(settled);
    } finally {
      hold.lock.unlock();
    }
  }
}
