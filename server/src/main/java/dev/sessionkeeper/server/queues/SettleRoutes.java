package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.tracing.TraceMessages;
import java.util.List;
import java.util.regex.Pattern;

/** Settles deliveries of a held session, and writes its state. */
final class SettleRoutes {
  private static final Pattern ETAG = Pattern.compile("\"([0-9]{1,18})\"");

  private final Queues queues;
  private final HeldSessions held;
  private final LimitLeases limits;
  private final TraceMessages traces;

  SettleRoutes(Queues queues, HeldSessions held, LimitLeases limits, TraceMessages traces) {
    this.traces = traces;
    this.limits = limits;
    this.queues = queues;
    this.held = held;
  }

  List<Route> routes() {
    return List.of(
        Route.post(
                "/queues/{queue}/leases/{leaseId}/settlements",
                Role.CONSUME,
                Scope.queue(),
                this::settle)
            .summary("Settle deliveries in order, all or nothing, and write the state with them")
            .takes(SettleRequest.class)
            .answers(200, "All settled", SettleRequest.Answer.class)
            .problems(
                ProblemType.OUT_OF_ORDER, ProblemType.STALE_STATE, ProblemType.SESSION_LOCK_LOST),
        Route.get(
                "/queues/{queue}/leases/{leaseId}/state",
                Role.CONSUME,
                Scope.queue(),
                this::readState)
            .summary("The session's memory; its version is the ETag, \"0\" when never written")
            .answers(200, "The bytes", "application/octet-stream")
            .problems(ProblemType.SESSION_LOCK_LOST),
        Route.put(
                "/queues/{queue}/leases/{leaseId}/state",
                Role.CONSUME,
                Scope.queue(),
                this::writeState)
            .summary("Replace the state of the session")
            .header("If-Match", "The ETag that is replaced; any where it is left out")
            .takes("application/octet-stream")
            .maxBody(SessionState.MAX_BYTES)
            .answers(204, "Written; the ETag is the new version")
            .problems(ProblemType.PRECONDITION_FAILED, ProblemType.SESSION_LOCK_LOST));
  }

  private Response settle(Request request) {
    var wish = request.json(SettleRequest::read);
    var session = heldBy(request);
    traces.settle(
        queues.named(request),
        session.id(),
        wish.settlements().size(),
        () ->
            wish.write()
                .map(write -> session.settle(wish.settled(), write))
                .orElseGet(() -> session.settle(wish.settled()))
                .toCompletableFuture()
                .join());
    limits.settled(
        queues.named(request), request.actor(), request.parameter("leaseId"), wish.settled());
    return Response.ok(SettleRequest.Answer.of(wish));
  }

  private Response readState(Request request) {
    var state = heldBy(request).state();
    return Response.bytes(200, "application/octet-stream", state.bytes())
        .header("ETag", "\"" + state.version() + "\"");
  }

  private Response writeState(Request request) {
    var expected = expectedVersion(request.header("If-Match"));
    try {
      var state = heldBy(request).writeState(new SessionState.Write(request.body(), expected));
      return Response.noContent().header("ETag", "\"" + state.version() + "\"");
    } catch (KeeperException.StaleState e) {
      throw ProblemType.PRECONDITION_FAILED
          .with("The state has another version than If-Match says")
          .and("code", e.code())
          .toException();
    }
  }

  private static long expectedVersion(String ifMatch) {
    if (ifMatch.isEmpty() || ifMatch.equals("*")) {
      return SessionState.ANY_VERSION;
    }
    var etag = ETAG.matcher(ifMatch);
    if (!etag.matches()) {
      throw Problem.invalid("If-Match", "must be an ETag of this state, such as \"3\"")
          .toException();
    }
    return Long.parseLong(etag.group(1));
  }

  private HeldSession heldBy(Request request) {
    return held.get(queues.named(request), request.actor(), request.parameter("leaseId"));
  }
}
