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
  private final OrderedQueue queue;
  private final Hold hold;
  private final Set<Settled> settledAlready = new HashSet<>();
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  SettleLane(OrderedQueue queue, Hold hold) {
    this.queue = queue;
    this.hold = hold;
  }

  /** Sends them; the caller has the lock. */
  CompletableFuture<Void> send(List<Settled> settlements, Optional<SessionState.Write> state) {
    hold.inHand.settle(settlements);
    var finished =
        answer(settlements, state).whenComplete((done, error) -> finish(settlements, error));
    last = finished;
    return finished;
  }

  private CompletableFuture<Void> answer(
      List<Settled> settlements, Optional<SessionState.Write> state) {
    if (settledAlready.containsAll(settlements)) {
      settlements.forEach(settledAlready::remove);
      return CompletableFuture.completedFuture(null);
    }
    if (areCompletions(settlements, state)) {
      var sequences = settlements.stream().mapToLong(Settled::sequence).toArray();
      return queue
          .settles()
          .complete(hold.id, hold.epoch, sequences, voidAfterFailure(), () -> !hold.isWritten);
    }
    var call = new SettleCall(hold.id, hold.epoch, false, settlements, false, state);
    return queue.settles().settle(call, voidAfterFailure());
  }

  /** Whether this is the common case, which needs no lane. */
  static boolean areCompletions(List<Settled> settlements, Optional<SessionState.Write> state) {
    return state.isEmpty() && settlements.stream().allMatch(SettleLane::isComplete);
  }

  private static boolean isComplete(Settled settled) {
    return settled.settlement() instanceof Settlement.Complete;
  }

  private BooleanSupplier voidAfterFailure() {
    int failures = hold.inHand.failures();
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
    var old = sequences.stream().map(next -> new Settled(next, Settlement.complete())).toList();
    var unused =
        queue
            .settles()
            .settle(SettleCall.expired(hold.id, hold.epoch, old))
            .whenComplete((done, error) -> finishUnseen(old, error));
  }

  private void finish(List<Settled> settlements, @Nullable Throwable error) {
    hold.lock.lock();
    try {
      if (error == null) {
        hold.inHand.settled(settlements);
      } else if (error instanceof KeeperException.LockLost) {
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
      if (error instanceof KeeperException.LockLost) {
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

  /** A transaction of the application has settled this one; whoever settles it next need not. */
  void settledByTransaction(Settled settled) {
    hold.lock.lock();
    try {
      settledAlready.add(settled);
    } finally {
      hold.lock.unlock();
    }
  }
}
