package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
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
  private final SessionId id;
  private final long epoch;
  private final InHand inHand;
  private final ReentrantLock lock;
  private final Runnable lost;
  private final BooleanSupplier isCarried;
  private final Set<Settled> settledAlready = new HashSet<>();
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  /**
   * Settles for a lane.
   *
   * @param lock that of the lane; it guards everything here
   * @param lost what to do, under the lock, when the lease turns out to be gone
   * @param isCarried whether it has no lane as yet; completions are all that is sent then
   */
  SettleLane(
      OrderedQueue queue,
      SessionId id,
      long epoch,
      InHand inHand,
      ReentrantLock lock,
      Runnable lost,
      BooleanSupplier isCarried) {
    this.queue = queue;
    this.id = id;
    this.epoch = epoch;
    this.inHand = inHand;
    this.lock = lock;
    this.lost = lost;
    this.isCarried = isCarried;
  }

  /** Sends them; the caller has the lock. */
  CompletableFuture<Void> send(List<Settled> settlements, Optional<SessionState.Write> state) {
    inHand.settle(settlements);
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
      return queue.settles().complete(id, epoch, sequences, voidAfterFailure(), isCarried);
    }
    var call = new SettleCall(id, epoch, false, settlements, false, state);
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
    int failures = inHand.failures();
    return () -> {
      lock.lock();
      try {
        return inHand.failures() != failures;
      } finally {
        lock.unlock();
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
    sequences.forEach(inHand::settleUnseen);
    var old = sequences.stream().map(next -> new Settled(next, Settlement.complete())).toList();
    var unused =
        queue
            .settles()
            .settle(SettleCall.expired(id, epoch, old))
            .whenComplete((done, error) -> finishUnseen(old, error));
  }

  private void finish(List<Settled> settlements, @Nullable Throwable error) {
    lock.lock();
    try {
      if (error == null) {
        inHand.settled(settlements);
      } else if (error instanceof KeeperException.LockLost) {
        lost.run();
      } else {
        inHand.notSettled(settlements);
      }
    } finally {
      lock.unlock();
    }
  }

  private void finishUnseen(List<Settled> settlements, @Nullable Throwable error) {
    lock.lock();
    try {
      if (error instanceof KeeperException.LockLost) {
        lost.run();
      } else {
        inHand.settled(settlements);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until everything before this message is durable.
   *
   * @throws KeeperException.OutOfOrder if something before it could not be settled
   */
  void awaitBefore(long sequence) {
    CompletableFuture<?> sent;
    lock.lock();
    try {
      sent = last;
    } finally {
      lock.unlock();
    }
    Waits.quietly(sent);
    lock.lock();
    try {
      if (!inHand.isNext(sequence)) {
        throw new KeeperException.OutOfOrder(id, sequence, "the settlement before it failed");
      }
    } finally {
      lock.unlock();
    }
  }

  /** A transaction of the application has settled this one; whoever settles it next need not. */
  void settledByTransaction(Settled settled) {
    lock.lock();
    try {
      settledAlready.add(settled);
    } finally {
      lock.unlock();
    }
  }
}
