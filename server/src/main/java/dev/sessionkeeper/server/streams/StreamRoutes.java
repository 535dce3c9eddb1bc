package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.cursors.Cursors;
import dev.sessionkeeper.cursors.EventTracker;
import dev.sessionkeeper.cursors.ListedValues;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Publishes and reads events. */
final class StreamRoutes {
  /** Streams of the product itself, such as {@code keeper.registry}. */
  private static final String OWN = "keeper.";

  private static final int MOST_SUBSCRIBERS = 1_000;

  private final Streams streams;
  private final ListedValues cursors;
  private final Subscribers subscribers;

  StreamRoutes(Streams streams, ListedValues cursors, Subscribers subscribers) {
    this.streams = streams;
    this.subscribers = subscribers;
    this.cursors = cursors;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/streams/{stream}/events", Role.SEND, Scope.stream(), this::publish)
            .summary("Append an event to a stream")
            .takes(PublishRequest.class)
            .answers(201, "Stored durably", Published.class),
        Route.get("/streams/{stream}/events", Role.READ, Scope.stream(), this::read)
            .summary("Read a stream as server-sent events: what comes, or from where one was")
            .header("Last-Event-ID", "The last event that the reader has; goes before everything")
            .query("lastEventId", "The same, for readers that cannot set headers")
            .query(
                "subscriber",
                "Resume from the cursor that is kept under this name, and move it",
                Role.CONSUME)
            .answers(200, "Events until either side ends", "text/event-stream")
            .problems(ProblemType.OVERLOADED, ProblemType.SUBSCRIBER_LIMIT),
        Route.get("/streams/{stream}/subscribers", Role.READ, Scope.stream(), this::subscribers)
            .summary("Where the named subscribers of a stream are, at most 1,000")
            .answers(200, "By name", SubscriberList.class));
  }

  /**
   * @param position the last event that it has
   * @param behind how many events follow that one
   */
  record Subscriber(String name, long position, long behind) {}

  record SubscriberList(long lastEventId, List<Subscriber> subscribers) {}

  private Response subscribers(Request request) {
    var stream = stream(request);
    var positions = Cursors.positions(cursors, stream, MOST_SUBSCRIBERS);
    // The end after the cursors: else one could be ahead of it.
    long last = streams.log().bounds(stream).last();
    var all =
        positions.entrySet().stream()
            .map(at -> new Subscriber(at.getKey(), at.getValue(), last - at.getValue()))
            .toList();
    return Response.ok(new SubscriberList(last, all));
  }

  /**
   * @param id the number of the event in its stream
   */
  record Published(long id) {}

  private Response publish(Request request) {
    var stream = stream(request);
    if (stream.startsWith(OWN)) {
      throw Problem.invalid("stream", "must not begin with " + OWN).toException();
    }
    var event = request.json(PublishRequest::read);
    long id = streams.log().append(stream, event.name(), event.json());
    streams.tails().published(stream);
    streams.meters().published();
    return Response.created(new Published(id));
  }

  private Response read(Request request) {
    var stream = stream(request);
    var asked = ReadRequest.of(request);
    var place = streams.places().take(request.actor().name());
    try {
      return read(request, stream, asked, place);
    } catch (RuntimeException e) {
      place.close();
      throw e;
    }
  }

  private Response read(
      Request request, String stream, ReadRequest asked, ReaderPlaces.Place place) {
    asked.subscriber().ifPresent(name -> subscribers.admit(stream, name, request.actor().name()));
    var key = asked.subscriber().map(name -> new CursorKey(stream, name));
    // The bounds after the cursor: else an event in between looks like one from another life.
    var had = had(asked, key);
    var bounds = streams.log().bounds(stream);
    var start = StartingPoint.of(had, bounds);
    var tracker = key.map(cursor -> track(cursor, start));
    return Response.stream(
            "text/event-stream; charset=utf-8",
            new ReadStream(streams, stream, start, bounds.last(), tracker, place))
        .header("X-Accel-Buffering", "no");
  }

  private OptionalLong had(ReadRequest asked, Optional<CursorKey> key) {
    if (asked.lastEventId().isPresent() || key.isEmpty()) {
      return asked.lastEventId();
    }
    return streams.cursors().position(key.get());
  }

  /** From its first visit on a subscriber misses nothing, also when it leaves before an event. */
  private EventTracker track(CursorKey cursor, StartingPoint start) {
    var tracker = streams.cursors().track(cursor, start.after());
    tracker.begin();
    return tracker;
  }

  private static String stream(Request request) {
    var stream = request.parameter("stream");
    if (!CursorKey.isName(stream)) {
      throw Problem.invalid(
              "stream", "must be 1 to 128 letters, digits, dots, colons, underscores and hyphens")
          .toException();
    }
    return stream;
  }
}
