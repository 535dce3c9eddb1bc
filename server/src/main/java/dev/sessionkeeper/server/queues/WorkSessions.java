package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.queues.WorkAnswer.Outcome;
import dev.sessionkeeper.server.queues.WorkAnswer.WorkSession;
import dev.sessionkeeper.server.queues.WorkAnswer.WorkSettled;
import dev.sessionkeeper.server.queues.WorkRequest.Then;
import dev.sessionkeeper.server.queues.WorkRequest.WorkSettle;
import dev.sessionkeeper.server.queues.WorkRequest.WorkTake;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.tracing.TraceMessages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles, continues, accepts and releases the sessions of a work request. */
final class WorkSessions {
  private static final Logger log = LoggerFactory.getLogger(WorkSessions.class);

  private final Queues queues;
  private final HeldSessions held;
  private final LimitLeases limits;
  private final LeaseMeters meters;
  private final TraceMessages traces;

  WorkSessions(
      Queues queues,
      HeldSessions held,
      LimitLeases limits,
      LeaseMeters meters,
      TraceMessages traces) {
    this.queues = queues;
    this.held = held;
    this.limits = limits;
    this.meters = meters;
    this.traces = traces;
  }

  /** A held session with the messages to deliver, and its state if requested. */
  record InHand(
      String leaseId,
      HeldSession session,
      List<Delivery> deliveries,
      Optional<SessionState> state) {
    InHand(String leaseId, HeldSession session, List<Delivery> deliveries) {
      this(leaseId, session, deliveries, Optional.empty());
    }

    InHand with(Map<SessionId, SessionState> states) {
      return new InHand(
          leaseId, session, deliveries, Optional.ofNullable(states.get(session.id())));
    }

    long bytes() {
      return bytesOf(deliveries) + state.map(memory -> memory.bytes().length).orElse(0);
    }
  }

  /** The results of settlements, and the sessions that continue. */
  record Settlings(List<WorkSettled> views, List<InHand> next) {}

  /** The result of the settlements of one session, and the session if it continues. */
  private record Settled(WorkSettled view, Optional<InHand> next) {}

  /**
   * Settles sessions and applies what the worker wants next. A session that does not fit into the
   * answer is released.
   */
  Settlings settle(
      QueueName queue,
      Actor actor,
      WorkRequest wish,
      WorkBudget budget,
      WorkBudget.Filling answer) {
    var views = new ArrayList<WorkSettled>();
    var next = new ArrayList<InHand>();
    for (var some : WorkBudget.some(wish.settled())) {
      boolean hasRoom = answer.hasRoom();
      var settled =
          Together.map(some, entry -> settle(queue, actor, entry, budget, wish.each(), hasRoom));
      settled.forEach(each -> views.add(each.view()));
      var going = settled.stream().flatMap(each -> each.next().stream()).toList();
      next.addAll(placed(queue, actor, going, wish.each(), answer));
    }
    return new Settlings(views, next);
  }

  private Settled settle(
      QueueName queue,
      Actor actor,
      WorkSettle wish,
      WorkBudget budget,
      WorkTake each,
      boolean hasRoom) {
    try {
      var session = held.goOn(queue, actor, wish.leaseId());
      var settlements = wish.settled();
      var view = new WorkSettled(wish.leaseId(), Outcome.SETTLED, Optional.empty());
      if (!settlements.isEmpty() && endsWithItsSettlements(session, wish)) {
        settle(queue, session, settlements, wish, session::close);
        limits.settled(queue, actor, wish.leaseId(), settlements);
        ended(queue, actor, wish.leaseId(), session);
        return new Settled(view, Optional.empty());
      }
      settle(queue, session, settlements, wish, () -> {});
      limits.settled(queue, actor, wish.leaseId(), settlements);
      return new Settled(view, follow(queue, actor, wish, session, budget.limit(each), hasRoom));
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

  /** Returns whether settlements and release can be one step of the store. */
  private static boolean endsWithItsSettlements(HeldSession session, WorkSettle wish) {
    return session.closesBehindSettlements()
        && wish.state().isEmpty()
        && switch (wish.following()) {
          case KEEP, MORE -> false;
          case NEXT -> !session.mayHaveMore();
          case RELEASE -> true;
        };
  }

  /**
   * Returns when the settlements are durable.
   *
   * @param behind runs as soon as the settlements were sent
   */
  private void settle(
      QueueName queue,
      HeldSession session,
      List<HeldSession.Settled> settlements,
      WorkSettle wish,
      Runnable behind) {
    if (settlements.isEmpty() && wish.state().isEmpty()) {
      return;
    }
    traces.settle(
        queue,
        session.id(),
        settlements.size(),
        () -> {
          var durable =
              wish.write()
                  .map(write -> session.settle(settlements, write))
                  .orElseGet(() -> session.settle(settlements));
          behind.run();
          durable.toCompletableFuture().join();
        });
  }

  /** The settlements are durable: a later failure must not make them look undone. */
  private Optional<InHand> follow(
      QueueName queue,
      Actor actor,
      WorkSettle wish,
      HeldSession session,
      BatchLimit limit,
      boolean hasRoom) {
    if (wish.following() == Then.KEEP) {
      return Optional.empty();
    }
    try {
      if (wish.following() != Then.RELEASE && hasRoom && mayGoOn(queue, actor, wish.leaseId())) {
        var deliveries = receive(queue, session, limit);
        if (!deliveries.isEmpty()) {
          limits.received(queue, actor, wish.leaseId(), deliveries);
          return Optional.of(new InHand(wish.leaseId(), session, deliveries));
        }
      }
      if (wish.following() != Then.MORE) {
        release(queue, actor, wish.leaseId(), session);
      }
    } catch (KeeperException e) {
      log.debug("Session {} is not continued; its lease will expire", session.id(), e);
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
    ended(queue, actor, leaseId, session);
  }

  private void ended(QueueName queue, Actor actor, String leaseId, HeldSession session) {
    held.remove(queue, leaseId, session);
    limits.ended(queue, actor, leaseId);
  }

  /** Accepts sessions that are ready now. */
  List<InHand> takeReady(
      QueueName queue,
      Actor actor,
      Owner owner,
      WorkTake each,
      WorkBudget budget,
      WorkBudget.Filling answer)
      throws InterruptedException {
    if (!answer.hasRoom() || !limits.awaitRoom(queue, Duration.ZERO)) {
      return List.of();
    }
    var source = queues.provider().sessions(queue);
    var accepted = source.acceptUpTo(owner, each.mostSessions(), Duration.ZERO);
    return handOut(queue, actor, accepted, budget.limit(each), each, answer);
  }

  /**
   * Waits for one session if none is ready. Empty if none came or the server shuts down. Returns
   * the session at once, because looking for more would delay its messages.
   */
  List<InHand> awaitOne(
      Request request, QueueName queue, Owner owner, WorkTake each, WorkBudget budget)
      throws Exception {
    request.extendDeadline(each.patienceOrNone());
    var accepted =
        request.await(
            () ->
                limits.awaitRoom(queue, each.patienceOrNone())
                    ? queues.provider().sessions(queue).acceptNext(owner, each.patienceOrNone())
                    : new AcceptResult.NoSession());
    return accepted.orElse(new AcceptResult.NoSession()) instanceof AcceptResult.Accepted one
        ? handOut(
            queue, request.actor(), List.of(one.session()), budget.limit(each), each, budget.fill())
        : List.of();
  }

  private List<InHand> handOut(
      QueueName queue,
      Actor actor,
      List<HeldSession> accepted,
      BatchLimit limit,
      WorkTake each,
      WorkBudget.Filling answer) {
    var all = new ArrayList<InHand>();
    for (var some : WorkBudget.some(accepted)) {
      if (answer.hasRoom()) {
        var taken =
            Together.map(some, session -> handOut(queue, actor, session, limit)).stream()
                .flatMap(Optional::stream)
                .toList();
        all.addAll(placed(queue, actor, taken, each, answer));
      } else {
        // No message of these sessions was received, so no attempt is used.
        some.forEach(HeldSession::close);
      }
    }
    return all;
  }

  /**
   * Returns the sessions that fit into the answer, with their states if requested. If the store
   * cannot return the states, the settlements stand and only the sessions are released.
   */
  private List<InHand> placed(
      QueueName queue, Actor actor, List<InHand> taken, WorkTake each, WorkBudget.Filling answer) {
    var placed = taken;
    if (each.wantsState() && !taken.isEmpty()) {
      try {
        var sessions = taken.stream().map(InHand::session).toList();
        var states = queues.provider().sessions(queue).states(sessions);
        placed = taken.stream().map(one -> one.with(states)).toList();
      } catch (KeeperException e) {
        log.warn(
            "The states of {} sessions could not be read; the sessions are released",
            taken.size(),
            e);
        taken.forEach(one -> giveBack(queue, actor, one));
        return List.of();
      }
    }
    placed.forEach(one -> answer.take(one.bytes()));
    return placed;
  }

  /**
   * Registers the lease of a session that was just accepted. Empty if the session is lost, or its
   * bot's limit is reached.
   */
  private Optional<InHand> handOut(
      QueueName queue, Actor actor, HeldSession session, BatchLimit limit) {
    try {
      if (!limits.begin(queue, session)) {
        session.close();
        return Optional.empty();
      }
      var deliveries = receive(queue, session, limit);
      var leaseId = held.addFresh(queue, actor, session);
      if (deliveries.isEmpty()) {
        release(queue, actor, leaseId, session);
        return Optional.empty();
      }
      limits.received(queue, actor, leaseId, deliveries);
      return Optional.of(new InHand(leaseId, session, deliveries));
    } catch (KeeperException.LockLost e) {
      return Optional.empty(); // An operator took the session at the same moment.
    } catch (RuntimeException e) {
      session.close();
      log.warn("Session {} could not be delivered; it is released", session.id(), e);
      return Optional.empty();
    }
  }

  /** Returns a session as the worker sees it. */
  WorkSession view(InHand one) {
    meters.checkOrder(one.deliveries());
    return WorkSession.of(one.leaseId(), one.session().lease(), one.state(), one.deliveries());
  }

  /** Receives until the limit is reached, or the session is known to have no more messages. */
  private List<Delivery> receive(QueueName queue, HeldSession session, BatchLimit limit) {
    try {
      return traces.receive(
          queue,
          Optional.of(session.id()),
          () -> Optional.of(receiveAll(session, limit)),
          Delivery::message);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      Thread.currentThread().interrupt();
      throw new KeeperException.Unavailable("Receiving was interrupted", e);
    }
  }

  /**
   * Receives until the limit is reached, because a provider that bounds bytes may return few
   * messages per call. A handle without memory begins again at the first open message, which ends
   * the loop.
   */
  private static List<Delivery> receiveAll(HeldSession session, BatchLimit limit)
      throws InterruptedException {
    var all = new ArrayList<>(session.receive(limit, Duration.ZERO));
    boolean mayFitMore = all.size() == limit.messagesOfAnySize();
    long bytes = bytesOf(all);
    while (mayFitMore
        && all.size() < limit.messages()
        && bytes < limit.bytes()
        && session.mayHaveMore()) {
      var rest = new BatchLimit(limit.messages() - all.size(), limit.bytes() - bytes);
      var more = session.receive(rest, Duration.ZERO);
      mayFitMore = !more.isEmpty() && more.getFirst().sequence() > all.getLast().sequence();
      if (mayFitMore) {
        all.addAll(more);
        bytes += bytesOf(more);
      }
    }
    return all;
  }

  private static long bytesOf(List<Delivery> deliveries) {
    return deliveries.stream().mapToLong(delivery -> delivery.payload().unsafeBytes().length).sum();
  }

  /** Returns sessions that the request accepted before, with their messages. */
  List<InHand> again(
      QueueName queue, Actor actor, List<String> leaseIds, WorkBudget budget, WorkTake each) {
    var answer = budget.fill();
    var all = new ArrayList<InHand>();
    for (var some : WorkBudget.some(leaseIds)) {
      boolean hasRoom = answer.hasRoom();
      var still =
          Together.map(some, leaseId -> again(queue, actor, leaseId, budget.limit(each), hasRoom))
              .stream()
              .flatMap(Optional::stream)
              .toList();
      all.addAll(placed(queue, actor, still, each, answer));
    }
    return all;
  }

  /**
   * Returns a session that the request accepted before, with its messages; empty if its lease is
   * lost.
   */
  private Optional<InHand> again(
      QueueName queue, Actor actor, String leaseId, BatchLimit limit, boolean hasRoom) {
    try {
      var session = held.get(queue, actor, leaseId);
      if (!hasRoom || !held.areShared(queue)) {
        // This provider cannot deliver the messages twice under one lease: the next request gets
        // them.
        release(queue, actor, leaseId, session);
        return Optional.empty();
      }
      var deliveries = session.receive(limit, Duration.ZERO);
      return deliveries.isEmpty()
          ? Optional.empty()
          : Optional.of(new InHand(leaseId, session, deliveries));
    } catch (KeeperException.LockLost e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KeeperException.Unavailable("Receiving was interrupted", e);
    }
  }

  /** Releases a session that this request does not return after all. */
  void giveBack(QueueName queue, Actor actor, InHand taken) {
    try {
      release(queue, actor, taken.leaseId(), taken.session());
    } catch (KeeperException e) {
      log.debug("Session {} could not be released; its lease will expire", taken.session().id(), e);
    }
  }
}
