package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.feature.HoldLimits;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.AuditedQueues;
import dev.sessionkeeper.spi.SessionStatus;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Lists sessions, and lets an operator act on them. */
final class SessionRoutes {
  private static final int AT_ONCE = 500;

  private final Queues queues;
  private final AuditedQueues audited;
  private final Supplier<HoldLimits> limits;

  SessionRoutes(Queues queues, AuditedQueues audited, Supplier<HoldLimits> limits) {
    this.queues = queues;
    this.audited = audited;
    this.limits = limits;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/queues/{queue}/sessions", Role.READ, Scope.queue(), this::list)
            .summary("Sessions with work, an owner or a reason to be set aside, by id")
            .query("status", "ready, held, waiting, parked or paused")
            .query("limit", "Sessions per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", SessionItem.Listing.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE, ProblemType.INVALID_CURSOR, ProblemType.NOT_SUPPORTED),
        Route.post("/queues/{queue}/sessions/actions", Role.OPERATE, Scope.queue(), this::act)
            .summary(
                "Pause, resume, park, release or dead-letter a session, or resume all of a status; audited")
            .takes(SessionRequest.class)
            .answers(200, "Done", SessionRequest.Answer.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_SUPPORTED));
  }

  private record Wish(Optional<SessionStatus> status, Page.Request page) {
    static Wish read(Fields in) {
      var status =
          in.optional("status", Decode.oneOf(Decode.words(SessionStatus.class, SessionItem::word)));
      var page = Request.page(in);
      return new Wish(status.get(), page);
    }
  }

  private Response list(Request request) {
    var queue = queues.named(request);
    var wish = request.query(Wish::read);
    queues.settings(queue);
    var page = queues.inspectable().inspect(queue, wish.status(), wish.page());
    var since = limits.get().heldSince(queue);
    return Response.ok(
        new SessionItem.Listing(
            page.items().stream()
                .map(view -> SessionItem.of(view, Optional.ofNullable(since.get(view.id()))))
                .toList(),
            page.next()));
  }

  private Response act(Request request) {
    var queue = queues.named(request);
    var wish = request.json(SessionRequest::read);
    queues.settings(queue);
    queues.operable();
    if (wish.isForAll()) {
      return actOnAll(request, queue, wish);
    }
    int affected = act(request, queue, SessionId.of(wish.sessionId().orElseThrow()), wish);
    return Response.ok(
        new SessionRequest.Answer(wish.sessionId(), wish.action(), affected, Optional.empty()));
  }

  /**
   * Acts on a bounded number of sessions, each in a transaction of its own with its audit entry.
   */
  private Response actOnAll(Request request, QueueName queue, SessionRequest wish) {
    var page =
        queues
            .inspectable()
            .inspect(queue, Optional.of(wish.statusOfAll()), Page.Request.first(AT_ONCE));
    int affected = 0;
    for (var session : page.items()) {
      affected += act(request, queue, session.id(), wish);
    }
    return Response.ok(
        new SessionRequest.Answer(
            Optional.empty(), wish.action(), affected, Optional.of(page.next().isPresent())));
  }

  private int act(Request request, QueueName queue, SessionId session, SessionRequest wish) {
    var reason = wish.reason().orElse("");
    return audited.act(
        queue,
        session,
        wish.action().act(),
        reason,
        count ->
            AuditLog.Entry.of(
                request.actor(),
                "session." + wish.action(),
                queue + "/" + session,
                count + " affected" + (reason.isEmpty() ? "" : "; " + reason)));
  }
}
