package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.feature.HoldLimits;
import dev.sessionkeeper.server.feature.HoldLimits.Hold;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.store.Actor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Applies the limits of bots to leases on their queues. */
record LimitLeases(HeldSessions held, Supplier<HoldLimits> limits) {
  private static final String CONCURRENT = "max_concurrent_sessions";

  /**
   * Waits until one more session of the queue may be held. Returns false after the given patience.
   */
  boolean awaitRoom(QueueName queue, Duration patience) throws InterruptedException {
    return limits.get().awaitRoom(queue, patience);
  }

  /** Begins a hold. Returns false if the limit is reached. */
  boolean begin(QueueName queue, HeldSession session) {
    return limits.get().begin(new Hold(queue, session.id(), session.lease().epoch()));
  }

  /**
   * Refuses to continue a hold that has reached a limit; releases a session without open
   * deliveries.
   */
  void check(QueueName queue, Actor owner, String leaseId) {
    var reached = limits.get().reached(held.holdOf(queue, owner, leaseId));
    if (reached.isEmpty()) {
      return;
    }
    if (reached.get().isIdle()) {
      held.release(queue, owner, leaseId);
      limits.get().ended(held.holdOf(queue, owner, leaseId), reached);
    }
    throw refusal(reached.get().limit(), reached.get().detail()).toException();
  }

  void renewed(QueueName queue, Actor owner, String leaseId) {
    limits.get().renewed(held.holdOf(queue, owner, leaseId));
  }

  void received(QueueName queue, Actor owner, String leaseId, List<Delivery> deliveries) {
    limits.get().received(held.holdOf(queue, owner, leaseId), deliveries);
  }

  void settled(QueueName queue, Actor owner, String leaseId, List<Settled> settlements) {
    limits.get().settled(held.holdOf(queue, owner, leaseId), settlements);
  }

  void ended(QueueName queue, Actor owner, String leaseId) {
    limits.get().ended(held.holdOf(queue, owner, leaseId), Optional.empty());
  }

  /** Returns the problem for a chosen session when the limit of held sessions is reached. */
  static Problem noRoom() {
    return refusal(
        CONCURRENT,
        "As many sessions of the queue are held as its bot allows. Try again when one was released");
  }

  private static Problem refusal(String limit, String detail) {
    return ProblemType.SESSION_LIMIT_REACHED.with(detail).and("limit", limit);
  }
}
