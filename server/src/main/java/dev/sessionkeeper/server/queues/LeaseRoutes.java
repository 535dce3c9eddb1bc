package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.Json;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.tracing.TraceMessages;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Accepts, renews and releases leases, and receives under them. */
final class LeaseRoutes {
  private final Queues queues;
  private final HeldSessions held;
  private final LimitLeases limits;
  private final LeaseMeters meters;
  private final TraceMessages traces;

  LeaseRoutes(
      Queues queues,
      HeldSessions held,
      LimitLeases limits,
      LeaseMeters meters,
      TraceMessages traces) {
    this.traces = traces;
    this.limits = limits;
    this.queues = queues;
    this.held = held;
    this.meters = meters;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/queues/{queue}/leases", Role.CONSUME, Scope.queue(), this::accept)
            .summary("Hold a session: a chosen one, or the one that has waited longest")
            .takes(LeaseRequest.class)
            .answers(201, "Held", LeaseView.class)
            .answers(
                204,
                "No session had work ready in that time, or the bot of the queue allows no more at"
                    + " once")
            .problems(
                ProblemType.UNKNOWN_QUEUE,
                ProblemType.SESSION_LOCKED,
                ProblemType.SESSION_SET_ASIDE,
                ProblemType.SESSION_LIMIT_REACHED,
                ProblemType.SESSION_MODE_MISMATCH,
                ProblemType.NOT_SUPPORTED),
        Route.get(
                "/queues/{queue}/leases/{leaseId}/messages",
                Role.CONSUME,
                Scope.queue(),
                this::receive)
            .summary("The next messages of the held session, in order; at most 8 MB in one answer")
            .query(
                "max", "The most messages, 1 to " + Limits.DEFAULT.maxBatch() + "; 10 by default")
            .query("wait", "How long to wait for the first message, up to PT60S")
            .answers(200, "The messages; none if none came in time", DeliveryView.Batch.class)
            .problems(ProblemType.SESSION_LOCK_LOST, ProblemType.SESSION_LIMIT_REACHED),
        Route.post(
                "/queues/{queue}/leases/{leaseId}/renew", Role.CONSUME, Scope.queue(), this::renew)
            .summary("Extend the lease by the lock duration")
            .answers(200, "Renewed", LeaseView.Renewed.class)
            .problems(ProblemType.SESSION_LOCK_LOST, ProblemType.SESSION_LIMIT_REACHED),
        Route.delete("/queues/{queue}/leases/{leaseId}", Role.CONSUME, Scope.queue(), this::release)
            .summary("Release the session; open deliveries are delivered again")
            .answers(204, "Released")
            .problems(ProblemType.SESSION_LOCK_LOST));
  }

  private Response accept(Request request) throws Exception {
    var queue = queues.named(request);
    var wish = request.json(LeaseRequest::read);
    var owner = Owner.of(wish.owner().orElse(request.actor().name()));
    request.extendDeadline(wish.patience().orElse(Duration.ZERO));
    var result = request.await(() -> accept(queue, wish, owner));
    if (result.isEmpty()) {
      return Response.noContent();
    }
    return switch (result.get()) {
      case AcceptResult.Accepted accepted ->
          accepted(queue, wish, request.actor(), accepted.session());
      case AcceptResult.NoSession none -> Response.noContent();
      case AcceptResult.Locked locked -> throw refuseLocked(locked);
      case AcceptResult.SetAside aside ->
          throw ProblemType.SESSION_SET_ASIDE
              .with("The session is " + statusOf(aside) + ": " + aside.reason())
              .and("sessionStatus", statusOf(aside))
              .and("reason", aside.reason())
              .and("since", aside.since())
              .toException();
    };
  }

  private ProblemException refuseLocked(AcceptResult.Locked locked) {
    meters.contended();
    return ProblemType.SESSION_LOCKED
        .with("Another owner holds the session until " + Json.time(locked.until()))
        .and("lockedUntil", locked.until())
        .toException();
  }

  private AcceptResult accept(QueueName queue, LeaseRequest wish, Owner owner)
      throws InterruptedException {
    var sessions = queues.provider().sessions(queue);
    var patience = wish.patience().orElse(Duration.ZERO);
    if (!limits.awaitRoom(queue, patience)) {
      return noRoom(wish);
    }
    if (wish.sessionId().isEmpty()) {
      return sessions.acceptNext(owner, patience);
    }
    return queues
        .able(AddressableSessions.class, sessions, "addressableSessions")
        .accept(SessionId.of(wish.sessionId().get()), owner, patience);
  }

  /**
   * Returns the answer when a limit is reached: for a caller that takes any session, the same as if
   * no session had work.
   */
  private static AcceptResult noRoom(LeaseRequest wish) {
    if (wish.sessionId().isPresent()) {
      throw LimitLeases.noRoom().toException();
    }
    return new AcceptResult.NoSession();
  }

  private Response accepted(QueueName queue, LeaseRequest wish, Actor actor, HeldSession session) {
    try {
      if (!limits.begin(queue, session)) {
        session.close();
        noRoom(wish);
        return Response.noContent();
      }
      var leaseId = held.add(queue, actor, session);
      return Response.created(LeaseView.of(leaseId, session, session.state()))
          .ifUndelivered(
              () -> {
                held.remove(queue, leaseId, session);
                session.close();
                limits.ended(queue, actor, leaseId);
              });
    } catch (KeeperException.LockLost e) {
      return Response.noContent(); // An operator took the session at the same moment.
    } catch (RuntimeException e) {
      session.close();
      throw e;
    }
  }

  private static String statusOf(AcceptResult.SetAside aside) {
    return aside.status().name().toLowerCase(Locale.ROOT);
  }

  private record Wish(int max, Duration patience) {
    static Wish read(Fields in) {
      var max = in.optional("max", 10, Decode.integer(1, Limits.DEFAULT.maxBatch()));
      var wait =
          in.optional("wait", Duration.ZERO, Decode.duration(Duration.ZERO, Queues.MAX_WAIT));
      in.check();
      return new Wish(max.get(), wait.get());
    }
  }

  private Response receive(Request request) throws Exception {
    var wish = request.query(Wish::read);
    var session = heldBy(request);
    limits.check(queues.named(request), request.actor(), request.parameter("leaseId"));
    var deliveries =
        traces.receive(
            queues.named(request),
            Optional.of(session.id()),
            () -> ReceiveForAnswer.receive(request, wish.max(), wish.patience(), session::receive),
            Delivery::message);
    meters.checkOrder(deliveries);
    limits.received(
        queues.named(request), request.actor(), request.parameter("leaseId"), deliveries);
    var response =
        Response.ok(new DeliveryView.Batch(deliveries.stream().map(DeliveryView::of).toList()));
    // If leases live in the store, a caller that lost this answer receives the same messages again.
    return deliveries.isEmpty() || held.areShared(queues.named(request))
        ? response
        : response.ifUndelivered(() -> giveBack(session, deliveries.get(0)));
  }

  /**
   * Retries the head, which makes all delivered messages void, so that the owner can receive them
   * again.
   */
  private static void giveBack(HeldSession session, Delivery head) {
    var again = Settlement.keepRetrying(Duration.ZERO, "the receiver hung up");
    session
        .settle(List.of(new HeldSession.Settled(head.sequence(), again)))
        .toCompletableFuture()
        .join();
  }

  private Response renew(Request request) {
    var queue = queues.named(request);
    var leaseId = request.parameter("leaseId");
    var session = heldBy(request);
    limits.check(queue, request.actor(), leaseId);
    var until = session.renew().until();
    limits.renewed(queue, request.actor(), leaseId);
    return Response.ok(new LeaseView.Renewed(until));
  }

  private Response release(Request request) {
    held.release(queues.named(request), request.actor(), request.parameter("leaseId"));
    limits.ended(queues.named(request), request.actor(), request.parameter("leaseId"));
    return Response.noContent();
  }

  private HeldSession heldBy(Request request) {
    return held.get(queues.named(request), request.actor(), request.parameter("leaseId"));
  }
}
