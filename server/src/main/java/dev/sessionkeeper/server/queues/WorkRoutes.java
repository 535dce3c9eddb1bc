package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.queues.WorkAnswer.Outcome;
import dev.sessionkeeper.server.queues.WorkAnswer.WorkRenewed;
import dev.sessionkeeper.server.queues.WorkAnswer.WorkSession;
import dev.sessionkeeper.server.queues.WorkAnswer.WorkSettled;
import dev.sessionkeeper.store.Actor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Serves a worker's request: settle, renew, continue settled sessions, accept new ones, in this
 * order.
 *
 * <p>The result is stored before the answer is sent, so a repeated request finds it. I1: a request
 * hands out sessions once; if two servers execute the same request, the second one releases its
 * sessions.
 */
final class WorkRoutes {
  private final Queues queues;
  private final HeldSessions held;
  private final LimitLeases limits;
  private final WorkSessions sessions;
  private final WorkLog log;

  WorkRoutes(
      Queues queues, HeldSessions held, LimitLeases limits, WorkSessions sessions, WorkLog log) {
    this.queues = queues;
    this.held = held;
    this.limits = limits;
    this.sessions = sessions;
    this.log = log;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/queues/{queue}/work", Role.CONSUME, Scope.queue(), this::work)
            .summary(
                "One round of a worker: settle, renew and take sessions with their messages; at"
                    + " most 8 MB in one answer")
            .takes(WorkRequest.class)
            .answers(200, "The result; the same again for a repeated requestId", WorkAnswer.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE,
                ProblemType.SESSION_MODE_MISMATCH,
                ProblemType.OVERLOADED));
  }

  private Response work(Request request) throws Exception {
    var queue = queues.named(request);
    var wish = request.json(WorkRequest::read);
    wish.requireValid();
    var round = new WorkLog.Round(queue, request.actor().name(), wish.requestId());
    var known = log.find(round);
    return known.isPresent()
        ? Response.ok(again(request, queue, wish, known.get()))
        : Response.ok(once(request, round, wish));
  }

  private WorkAnswer once(Request request, WorkLog.Round round, WorkRequest wish) throws Exception {
    var queue = round.queue();
    var actor = request.actor();
    var budget = WorkBudget.reserve(request, wish);
    held.askFor(queue, actor, wish.shownLeases());
    var answer = budget.fill();
    var settled = sessions.settle(queue, actor, wish, budget, answer);
    var outcomes = settled.views().stream().map(WorkSettled::outcome).toList();
    var renewed = renew(queue, actor, wish.renewed());
    var taken = new ArrayList<>(settled.next());
    boolean isLogged = false;
    if (wish.each().mostSessions() > 0 && wish.take().isPresent()) {
      var owner = Owner.of(wish.owner().orElse(actor.name()));
      taken.addAll(sessions.takeReady(queue, actor, owner, wish.each(), budget, answer));
      if (taken.isEmpty() && !wish.each().patienceOrNone().isZero()) {
        isLogged = !outcomes.stream().allMatch(Outcome::changedNothing);
        if (isLogged && !log.add(round, new WorkLog.Result(outcomes, List.of()))) {
          return again(request, queue, wish, log.find(round).orElseThrow());
        }
        request.unreserve();
        taken.addAll(sessions.awaitOne(request, queue, owner, wish.each(), budget.afterWait()));
      }
    }
    var views = taken.stream().map(sessions::view).toList();
    var result = new WorkLog.Result(outcomes, views.stream().map(WorkSession::leaseId).toList());
    if (!remember(round, result, isLogged)) {
      taken.forEach(each -> sessions.giveBack(queue, actor, each));
      return again(request, queue, wish, log.find(round).orElseThrow());
    }
    return new WorkAnswer(false, settled.views(), renewed, views);
  }

  /**
   * Stores the result, unless the request changed nothing: a client could fill the store with
   * requests that name leases it does not have.
   */
  private boolean remember(WorkLog.Round round, WorkLog.Result result, boolean isLogged) {
    if (isLogged) {
      if (!result.leaseIds().isEmpty()) {
        log.complete(round, result);
      }
      return true;
    }
    boolean changedNothing =
        result.leaseIds().isEmpty() && result.outcomes().stream().allMatch(Outcome::changedNothing);
    return changedNothing || log.add(round, result);
  }

  /** Returns the result of a request that this or another server has finished before. */
  private WorkAnswer again(
      Request request, QueueName queue, WorkRequest wish, WorkLog.Result result) {
    var actor = request.actor();
    var budget = WorkBudget.reserve(request, wish);
    var settled = new ArrayList<WorkSettled>();
    for (int i = 0; i < wish.settled().size(); i++) {
      var outcome =
          i < result.outcomes().size() ? result.outcomes().get(i) : WorkAnswer.Outcome.UNAVAILABLE;
      settled.add(new WorkSettled(wish.settled().get(i).leaseId(), outcome, Optional.empty()));
    }
    held.askFor(queue, actor, Stream.concat(result.leaseIds().stream(), wish.renewed().stream()));
    var still = sessions.again(queue, actor, result.leaseIds(), budget, wish.each());
    return new WorkAnswer(
        true,
        settled,
        renew(queue, actor, wish.renewed()),
        still.stream().map(sessions::view).toList());
  }

  private List<WorkRenewed> renew(QueueName queue, Actor actor, List<String> leaseIds) {
    return leaseIds.isEmpty()
        ? List.of()
        : Together.map(leaseIds, leaseId -> renew(queue, actor, leaseId));
  }

  private WorkRenewed renew(QueueName queue, Actor actor, String leaseId) {
    try {
      var session = held.goOn(queue, actor, leaseId);
      limits.check(queue, actor, leaseId);
      var until = session.renew().until();
      limits.renewed(queue, actor, leaseId);
      return new WorkRenewed(leaseId, true, Optional.of(until));
    } catch (KeeperException.LockLost | ProblemException e) {
      // A limit of the bot ends the lease too; in both cases the owner must stop.
      return new WorkRenewed(leaseId, false, Optional.empty());
    }
  }
}
