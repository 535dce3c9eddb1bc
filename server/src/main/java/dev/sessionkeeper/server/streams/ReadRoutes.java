package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.cursors.EventTracker;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.ReaderPlaces;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.http.TenantFilter;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;

/**
 * Reads a stream, as server-sent events or as pages of JSON.
 *
 * <p>A read never moves the position of a subscriber that acknowledges, except by the {@code
 * Last-Event-ID} that the subscriber itself sends. The positions of other subscribers follow the
 * events that their connections took.
 */
final class ReadRoutes {
  private static final long LEAST_PAGE = 64 << 10;
  private static final long MOST_PAGE = 1 << 20;

  private final Streams streams;
  private final Subscribers subscribers;
  private final Acknowledge acknowledge;

  ReadRoutes(Streams streams, Subscribers subscribers, Acknowledge acknowledge) {
    this.streams = streams;
    this.subscribers = subscribers;
    this.acknowledge = acknowledge;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/streams/{stream}/events", Role.READ, Scope.streams(), this::read)
            .summary(
                "Read a stream as server-sent events, or as JSON with Accept: application/json")
            .header("Last-Event-ID", "The last event that the reader has; goes before everything")
            .query("lastEventId", "The same as the header, for readers that cannot set headers")
            .query(
                "subscriber",
                "Resume behind the last event that this subscriber acknowledged",
                Role.CONSUME)
            .query(
                "ack",
                "explicit: the position moves by acknowledgement only, as it always does once the"
                    + " subscriber was created or has acknowledged. delivered: it follows what the"
                    + " connection took, which can lose events of a reader that dies")
            .query("limit", "Events per page of JSON, 1 to 1000")
            .query("token", "A token of POST /streams/{stream}/tokens, instead of a credential")
            .answers(200, "Events until either side ends", "text/event-stream")
            .answers(200, "A page, with Accept: application/json", StreamPage.class)
            .problems(
                ProblemType.OVERLOADED,
                ProblemType.SUBSCRIBER_LIMIT,
                ProblemType.CONFLICT,
                ProblemType.NOT_FOUND));
  }

  private Response read(Request request) {
    var stream = StreamRoutes.named(request);
    var asked = ReadRequest.of(request);
    var only = only(request.reach(), stream, asked);
    if (asked.wantsPage()) {
      return page(request, stream, asked, only);
    }
    var place = streams.places().take(request.actor().name());
    try {
      return read(request, stream, asked, only, place);
    } catch (RuntimeException e) {
      place.close();
      throw e;
    }
  }

  /** Returns which events a tenant's credential sees in a stream of many tenants. */
  private static Optional<Predicate<StreamEvent>> only(
      Reach reach, String stream, ReadRequest asked) {
    if (reach.includesStream(stream)) {
      return Optional.empty();
    }
    if (asked.subscriber().isPresent()) {
      // Names of subscribers would reveal other tenants.
      throw ProblemType.NOT_FOUND.with("There is no such subscriber").toException();
    }
    return reach.tenants() instanceof TenantFilter.Only tenant
        ? Optional.of(new OfTenant(tenant.tenant()))
        : Optional.of(event -> false);
  }

  private Response page(
      Request request, String stream, ReadRequest asked, Optional<Predicate<StreamEvent>> only) {
    var key = asked.subscriber().map(name -> new CursorKey(stream, name));
    var from = had(stream, asked, key).orElse(0);
    var bounds = streams.log().bounds(stream);
    long bytes = request.reserve(LEAST_PAGE, MOST_PAGE);
    var events = streams.log().read(stream, from, asked.limit(), bytes);
    var shown = events.stream().filter(event -> only.isEmpty() || only.get().test(event)).toList();
    long last = events.isEmpty() ? from : events.getLast().id();
    return Response.ok(StreamPage.of(shown, bounds.last(), last));
  }

  private Response read(
      Request request,
      String stream,
      ReadRequest asked,
      Optional<Predicate<StreamEvent>> only,
      ReaderPlaces.Place place) {
    var key = asked.subscriber().map(name -> new CursorKey(stream, name));
    boolean isMovedByReading = key.isPresent() && isMovedByReading(asked, key.get());
    if (isMovedByReading) {
      subscribers.admit(stream, key.get().subscriber(), request.actor().name());
    } else {
      key.ifPresent(cursor -> requireKnown(cursor, asked));
    }
    // Reads the bounds after the cursor; otherwise an event in between would look like one of a
    // former stream.
    var had = had(stream, asked, key);
    var bounds = streams.log().bounds(stream);
    var start = StartingPoint.of(had, bounds);
    var tracker = key.filter(cursor -> isMovedByReading).map(cursor -> track(cursor, start));
    return Response.stream(
            "text/event-stream; charset=utf-8",
            new ReadStream(streams, stream, start, bounds.last(), tracker, only, place))
        .header("X-Accel-Buffering", "no")
        .header("Cache-Control", "no-store");
  }

  private boolean isMovedByReading(ReadRequest asked, CursorKey key) {
    boolean acknowledges =
        streams.config().requireAcknowledgement()
            || subscribers.acknowledging(key.stream()).contains(key.subscriber());
    if (acknowledges && asked.ack().equals(Optional.of(ReadRequest.Ack.DELIVERED))) {
      throw ProblemType.CONFLICT
          .with("The subscriber acknowledges; it cannot be read with ack=delivered")
          .toException();
    }
    return !acknowledges
        && asked.isStreamClient()
        && !asked.ack().equals(Optional.of(ReadRequest.Ack.EXPLICIT));
  }

  /** A read creates no subscriber, and the id in the header of a known subscriber acknowledges. */
  private void requireKnown(CursorKey key, ReadRequest asked) {
    var position = streams.cursors().position(key);
    if (position.isEmpty()) {
      throw ProblemType.NOT_FOUND
          .with(
              "The subscriber %s does not exist; create it with PUT /streams/%s/subscribers/%s"
                  .formatted(key.subscriber(), key.stream(), key.subscriber()))
          .toException();
    }
    asked
        .headerId()
        .map(id -> id.numberIn(streams.log(), key.stream()))
        .filter(OptionalLong::isPresent)
        .ifPresent(id -> acknowledge.upTo(key, id.getAsLong()));
  }

  private OptionalLong had(String stream, ReadRequest asked, Optional<CursorKey> key) {
    if (asked.lastEventId().isPresent()) {
      var number = asked.lastEventId().get().numberIn(streams.log(), stream);
      // Retention has deleted the event of this id, so the stream begins with a gap.
      return number.isPresent() ? number : OptionalLong.of(-1);
    }
    return key.isPresent() ? streams.cursors().position(key.get()) : OptionalLong.empty();
  }

  /**
   * From its first visit on a subscriber misses nothing, even if it leaves before the first event.
   */
  private EventTracker track(CursorKey cursor, StartingPoint start) {
    var tracker = streams.cursors().track(cursor, start.after());
    tracker.begin();
    return tracker;
  }
}
