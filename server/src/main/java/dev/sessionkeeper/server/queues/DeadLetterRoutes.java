package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.AuditedQueues;
import java.util.List;
import java.util.Optional;

/** Lists, replays and discards dead letters. */
final class DeadLetterRoutes {
  private final Queues queues;
  private final AuditedQueues audited;

  DeadLetterRoutes(Queues queues, AuditedQueues audited) {
    this.queues = queues;
    this.audited = audited;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/queues/{queue}/dead-letters", Role.READ, Scope.queue(), this::list)
            .summary("Dead letters, oldest first; at most 8 MB on a page")
            .query("sessionId", "Only dead letters of this session")
            .query("limit", "Dead letters per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", DeadLetterView.Listing.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE, ProblemType.INVALID_CURSOR, ProblemType.NOT_SUPPORTED),
        Route.get("/queues/{queue}/dead-letters/{id}", Role.READ, Scope.queue(), this::show)
            .summary("One dead letter with its body and last error")
            .answers(200, "The dead letter", DeadLetterView.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_FOUND, ProblemType.NOT_SUPPORTED),
        Route.post("/queues/{queue}/dead-letters/replay", Role.OPERATE, Scope.queue(), this::replay)
            .summary("Put dead letters back in their original order; audited")
            .takesSomeOf(ReplayRequest.class)
            .header(Reason.HEADER, Reason.ABOUT)
            .answers(
                200, "The result: replayed, or counted in a dry run", ReplayRequest.Answer.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_SUPPORTED),
        Route.delete(
                "/queues/{queue}/dead-letters/{id}", Role.OPERATE, Scope.queue(), this::discard)
            .summary("Delete a dead letter for good; audited")
            .header(Reason.HEADER, Reason.ABOUT)
            .answers(204, "Forgotten")
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_FOUND));
  }

  private record Wish(Optional<String> session, Page.Request page) {
    static Wish read(Fields in) {
      var session = in.optional("sessionId", Decode.text().map(text -> SessionId.of(text).value()));
      var page = Request.page(in);
      return new Wish(session.get(), page);
    }
  }

  private Response list(Request request) {
    var queue = queues.named(request);
    var wish = request.query(Wish::read);
    queues.settings(queue);
    var fitting = wish.page().withMaxBytes(ReceiveForAnswer.reserve(request));
    var page = queues.deadLetters().deadLetters(queue, wish.session().map(SessionId::of), fitting);
    return Response.ok(
        new DeadLetterView.Listing(
            page.items().stream().map(DeadLetterView::of).toList(), page.next()));
  }

  private Response show(Request request) {
    var queue = queues.named(request);
    queues.settings(queue);
    ReceiveForAnswer.reserve(request);
    return Response.ok(
        queues
            .deadLetters()
            .deadLetter(queue, request.parameter("id"))
            .map(DeadLetterView::of)
            .orElseThrow(DeadLetterRoutes::noLetter));
  }

  private static ProblemException noLetter() {
    return ProblemType.NOT_FOUND.with("There is no dead letter of that id").toException();
  }

  private Response replay(Request request) {
    var queue = queues.named(request);
    var wish = request.json(ReplayRequest::read);
    request.extendDeadline(Request.MUCH_WORK);
    queues.settings(queue);
    if (wish.dryRun().orElse(false)) {
      int count = queues.deadLetters().countReplayable(queue, wish.selection());
      return Response.ok(ReplayRequest.Answer.wouldReplay(count));
    }
    queues.deadLetters();
    int replayed =
        audited.replay(
            queue,
            wish.selection(),
            (target, what) ->
                AuditLog.Entry.of(request.actor(), "dead-letters.replay", target, what));
    return Response.ok(ReplayRequest.Answer.replayed(replayed));
  }

  private Response discard(Request request) {
    var queue = queues.named(request);
    var id = request.parameter("id");
    queues.settings(queue);
    queues.deadLetters();
    var entry = AuditLog.Entry.of(request.actor(), "dead-letters.discard", queue + "/" + id, "");
    if (!audited.discard(queue, id, count -> entry)) {
      throw noLetter();
    }
    return Response.noContent();
  }
}
