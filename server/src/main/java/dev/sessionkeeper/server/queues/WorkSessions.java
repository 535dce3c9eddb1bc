package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.queues.WorkAnswer.Outcome;
import dev.sessionkeeper.server.queues.WorkAnswer.WorkSession;
import dev.sessionkeeper.server.queues.WorkAnswer.WorkSettled;
import dev.sessionkeeper.server.queues.WorkRequest.Then;
import dev.sessionkeeper.server.queues.WorkRequest.WorkSettle;
import dev.sessionkeeper.server.queues.WorkRequest.WorkTake;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.tracing.TraceMessages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles, continues, takes and gives back the sessions of a worker's round. */
final class WorkSessions {
  private static final Logger log = LoggerFactory.getLogger(WorkSessions.class);

  private final Queues queues;
  private final HeldSessions held;
  private final LimitLeases limits;
  private final QueueMeters meters;
  private final TraceMessages traces;

  WorkSessions(
      Queues queues,
      HeldSessions held,
      LimitLeases limits,
      QueueMeters meters,
      TraceMessages traces) {
    this.queues = queues;
    this.held = held;
    this.limits = limits;
    this.meters = meters;
    this.traces = traces;
  }

  /** A session with messages that this round hands out. */
  record InHand(WorkLog.Taken key, WorkSession view) {
    static InHand of(HeldSession session, WorkSession view) {
      return new InHand(new WorkLog.Taken(session.id(), view.epoch()), view);
    }
  }

  /** What became of settlements, and the session if it goes on. */
  record Settled(WorkSettled view, Optional<InHand> next) {}

  /** Settles one session, and does what follows. */
  Settled settle(QueueName queue, Actor actor, WorkSettle wish, WorkBudget budget, WorkTake each) {
    try {
      var session = held.get(queue, actor, wish.leaseId());
      settle(queue, session, wish);
      limits.settled(queue, actor, wish.leaseId(), wish.settled());
      var view = new WorkSettled(wish.leaseId(), Outcome.SETTLED, Optional.empty());
      return new Settled(view, follow(queue, actor, wish, session, budget.limit(each), each));
    } catch (RuntimeException e) {
      var failure =
          e instanceof CompletionException && e.getCause() instanceof RuntimeException cause
              ? cause
              : e;
      return new Settled(
          new WorkSettled(
              wish.leaseId(), Outcome.of(failure), Optional.ofNullable(failure.getMessage())),
          Optional.empty());
    }
  }

  private void settle(QueueName queue, HeldSession session, WorkSettle wish) {
    if (wish.settlements().isEmpty() && wish.state().isEmpty()) {
      return;
    }
    traces.settle(
        queue,
        session.id(),
        wish.settlements().size(),
        () ->
            wish.write()
                .map(write -> session.settle(wish.settled(), write))
                .orElseGet(() -> session.settle(wish.settled()))
                .toCompletableFuture()
                .join());
  }

  /** The settlements are durable: a failure from here on must not make them look undone. */
  private Optional<InHand> follow(
      QueueName queue,
      Actor actor,
      WorkSettle wish,
      HeldSession session,
      BatchLimit limit,
      WorkTake each) {
    if (wish.following() == Then.KEEP) {
      return Optional.empty();
    }
    try {
      if (wish.following() == Then.NEXT && mayGoOn(queue, actor, wish.leaseId())) {
        var deliveries = receive(queue, session, limit);
        if (!deliveries.isEmpty()) {
          limits.received(queue, actor, wish.leaseId(), deliveries);
          return Optional.of(view(wish.leaseId(), session, deliveries, each));
        }
      }
      release(queue, actor, wish.leaseId(), session);
    } catch (KeeperException e) {
      log.debug("Session {} does not go on; its lease runs out", session.id(), e);
    }
    return Optional.empty();
  }

  private boolean mayGoOn(QueueName queue, Actor actor, String leaseId) {
    try {
      limits.check(queue, actor, leaseId);
      return true;
    } catch (ProblemException e) {
      return false;
    }
  }

  private void release(QueueName queue, Actor actor, String leaseId, HeldSession session) {
    session.close();
    held.remove(leaseId);
    limits.ended(queue, actor, leaseId);
  }

  /** Takes what is ready now. */
  List<InHand> takeReady(
      QueueName queue, Actor actor, Owner owner, WorkTake each, WorkBudget budget)
      throws InterruptedException {
    if (!limits.awaitRoom(queue, Duration.ZERO)) {
      return List.of();
    }
    var source = queues.provider().sessions(queue);
    var accepted = source.acceptUpTo(owner, each.mostSessions(), Duration.ZERO);
    return handOut(queue, actor, accepted, budget.limit(each), each);
  }

  /** Waits for the first session; empty when none came, or the server shuts down. */
  List<InHand> awaitAndTake(
      Request request, QueueName queue, Owner owner, WorkTake each, WorkBudget budget)
      throws Exception {
    request.mayTake(each.patienceOrNone());
    var accepted =
        request.await(
            () ->
                limits.awaitRoom(queue, each.patienceOrNone())
                    ? queues
                        .provider()
                        .sessions(queue)
                        .acceptUpTo(owner, each.mostSessions(), each.patienceOrNone())
                    : List.<HeldSession>of());
    return handOut(queue, request.actor(), accepted.orElse(List.of()), budget.limit(each), each);
  }

  private List<InHand> handOut(
      QueueName queue, Actor actor, List<HeldSession> accepted, BatchLimit limit, WorkTake each) {
    return accepted.isEmpty()
        ? List.of()
        : Together.map(accepted, session -> handOut(queue, actor, session, limit, each)).stream()
            .flatMap(Optional::stream)
            .toList();
  }

  /** Hands out a session that was just taken; empty when it is gone, or there is no room. */
  private Optional<InHand> handOut(
      QueueName queue, Actor actor, HeldSession session, BatchLimit limit, WorkTake each) {
    try {
      if (!limits.begin(queue, session)) {
        session.close();
        return Optional.empty();
      }
      // Before the lease is shared: some messages came with the session, at no further cost.
      var deliveries = receiveAll(queue, session, limit);
      var leaseId = held.add(queue, actor, session);
      if (deliveries.isEmpty()) {
        release(queue, actor, leaseId, session);
        return Optional.empty();
      }
      limits.received(queue, actor, leaseId, deliveries);
      return Optional.of(view(leaseId, session, deliveries, each));
    } catch (KeeperException.LockLost e) {
      return Optional.empty(); // An operator took it in the very moment it was ours.
    } catch (RuntimeException e) {
      session.close();
      log.warn("Session {} could not be handed out; it is given back", session.id(), e);
      return Optional.empty();
    }
  }

  private InHand view(
      String leaseId, HeldSession session, List<Delivery> deliveries, WorkTake each) {
    meters.checkOrder(deliveries);
    var state =
        each.wantsState()
            ? Optional.of(session.state())
            : Optional.<dev.sessionkeeper.SessionState>empty();
    return InHand.of(session, WorkSession.of(leaseId, session.lease(), state, deliveries));
  }

  /** Receives until the limit is reached, or the session is known to have no more. */
  private List<Delivery> receiveAll(QueueName queue, HeldSession session, BatchLimit limit) {
    var all = new ArrayList<>(receive(queue, session, limit));
    long bytes = bytesOf(all);
    while (!all.isEmpty()
        && all.size() < limit.messages()
        && bytes < limit.bytes()
        && session.mayHaveMore()) {
      var more =
          receive(
              queue, session, new BatchLimit(limit.messages() - all.size(), limit.bytes() - bytes));
      if (more.isEmpty()) {
        break;
      }
      all.addAll(more);
      bytes += bytesOf(more);
    }
    return all;
  }

  private static long bytesOf(List<Delivery> deliveries) {
    return deliveries.stream().mapToLong(delivery -> delivery.payload().unsafeBytes().length).sum();
  }

  private List<Delivery> receive(QueueName queue, HeldSession session, BatchLimit limit) {
    try {
      return traces.receive(
          queue,
          Optional.of(session.id()),
          () -> Optional.of(session.receive(limit, Duration.ZERO)),
          Delivery::message);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      Thread.currentThread().interrupt();
      throw new KeeperException.Unavailable("Receiving was interrupted", e);
    }
  }

  /**
   * A session that the round handed out before, with its messages again; empty when its lease is
   * gone.
   */
  Optional<WorkSession> again(
      QueueName queue, Actor actor, WorkLog.Taken taken, WorkBudget budget, WorkTake each) {
    var leaseId = held.idOf(queue, actor, taken.session(), taken.epoch());
    try {
      var session = held.get(queue, actor, leaseId);
      if (!held.areShared(queue)) {
        // Its messages cannot be read twice under one lease: the next round gets them.
        release(queue, actor, leaseId, session);
        return Optional.empty();
      }
      var deliveries = receive(queue, session, budget.limit(each));
      return deliveries.isEmpty()
          ? Optional.empty()
          : Optional.of(view(leaseId, session, deliveries, each).view());
    } catch (KeeperException.LockLost e) {
      return Optional.empty();
    }
  }

  /** Gives back a session that was taken for a round which another server has finished. */
  void giveBack(QueueName queue, Actor actor, InHand session) {
    try {
      var leaseId = session.view().leaseId();
      release(queue, actor, leaseId, held.get(queue, actor, leaseId));
    } catch (KeeperException e) {
      log.debug("Session {} is not given back; its lease runs out", session.key(), e);
    }
  }
}
