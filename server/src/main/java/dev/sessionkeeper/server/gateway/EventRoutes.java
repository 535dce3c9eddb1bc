package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import java.util.List;
import java.util.UUID;

/** Shows events and replays them. */
final class EventRoutes {
  private final FindEvents events;
  private final ReplayEvents replays;

  EventRoutes(FindEvents events, ReplayEvents replays) {
    this.events = events;
    this.replays = replays;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/events", Role.READ, Scope.queues(), this::list)
            .summary("GitHub's events, newest first")
            .query("eventId", "This one only")
            .query("bot", "Only events that were routed to this bot")
            .query("repository", "Only events of this repository, as owner/name")
            .query("sessionId", "Only events of this session, as a bot has it or in entity scope")
            .query("type", "Only events of this type, or type.action")
            .query("from", "Only events received at this time or later")
            .query("to", "Only events received before this time")
            .query("limit", "Events per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", EventView.Listing.class)
            .problems(ProblemType.INVALID_CURSOR),
        Route.get("/events/{id}", Role.READ, Scope.queues(), this::show)
            .summary("One event: which bots received it, and why the others did not")
            .answers(200, "The event", EventView.Detail.class),
        Route.get("/events/{id}/payload", Role.READ, Scope.queues(), this::payload)
            .summary("The payload, byte for byte as GitHub sent it")
            .answers(200, "The body of the delivery", "application/octet-stream"),
        Route.post("/events/replay", Role.OPERATE, Scope.queues(), this::replay)
            .summary("Send stored events to their bots again, in their original order; audited")
            .takesSomeOf(EventReplayRequest.class)
            .answers(
                200,
                "The result: sent again, or counted in a dry run",
                EventReplayRequest.Answer.class)
            .problems(ProblemType.NOT_SUPPORTED));
  }

  private Response list(Request request) {
    var wish =
        request.query(
            in -> {
              var query = EventQuery.ask(in);
              // Reads limit and cursor, and reports all errors.
              var page = Request.page(in);
              return new Wish(query.get(), page);
            });
    var page = events.page(wish.query(), request.reach(), wish.page());
    return Response.ok(new EventView.Listing(page.items(), page.next()));
  }

  private record Wish(EventQuery query, dev.sessionkeeper.Page.Request page) {}

  private Response show(Request request) {
    return events
        .find(idIn(request), request.reach())
        .map(Response::ok)
        .orElseThrow(EventRoutes::unknown);
  }

  private Response payload(Request request) {
    var original =
        events.original(idIn(request), request.reach()).orElseThrow(EventRoutes::unknown);
    // A payload may contain anything, so browsers must not render it as a page of this server.
    return Response.bytes(200, original.contentType(), original.bytes())
        .header("Content-Disposition", "attachment; filename=\"payload\"");
  }

  private Response replay(Request request) throws InterruptedException {
    var wish = request.json(EventReplayRequest::read);
    request.extendDeadline(Request.MUCH_WORK);
    return Response.ok(replays.replay(wish, request.actor(), request.reach()));
  }

  private static UUID idIn(Request request) {
    try {
      return Decode.parseGuid(request.parameter("id"));
    } catch (IllegalArgumentException notAnId) {
      throw unknown();
    }
  }

  private static ProblemException unknown() {
    return ProblemType.NOT_FOUND.with("There is no event of that id").toException();
  }
}
