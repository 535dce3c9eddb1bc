package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.coalescing.ListedValues;
import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.cursors.Cursors;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Fields;
import java.util.List;
import java.util.Optional;

/** Creates named subscribers, shows their cursors, and receives their acknowledgements. */
final class SubscriberRoutes {
  private static final int MOST_SUBSCRIBERS = 1_000;
  private static final String START = "start";
  private static final String END = "end";

  private final Streams streams;
  private final ListedValues cursors;
  private final Subscribers subscribers;
  private final Acknowledge acknowledge;

  SubscriberRoutes(
      Streams streams, ListedValues cursors, Subscribers subscribers, Acknowledge acknowledge) {
    this.streams = streams;
    this.cursors = cursors;
    this.subscribers = subscribers;
    this.acknowledge = acknowledge;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/streams/{stream}/subscribers", Role.READ, Scope.stream(), this::list)
            .summary("The named subscribers of a stream with their positions, at most 1,000")
            .answers(200, "By name", Listing.class),
        Route.put(
                "/streams/{stream}/subscribers/{subscriber}",
                Role.CONSUME,
                Scope.stream(),
                this::create)
            .summary(
                "Create a subscriber that acknowledges. An existing subscriber keeps its position")
            .takes(Creation.class)
            .answers(201, "Created", Item.class)
            .answers(200, "It was there; its position is unchanged", Item.class)
            .problems(ProblemType.SUBSCRIBER_LIMIT),
        Route.post(
                "/streams/{stream}/subscribers/{subscriber}/ack",
                Role.CONSUME,
                Scope.stream(),
                this::ack)
            .summary(
                "Acknowledge all events up to one. The position is durable when the call returns")
            .query("token", "A token of POST /streams/{stream}/tokens, instead of a credential")
            .takes(Ack.class)
            .answers(200, "The position now; an older event does not move it", Item.class)
            .problems(ProblemType.SUBSCRIBER_LIMIT, ProblemType.NOT_FOUND));
  }

  /**
   * A subscriber and its position.
   *
   * @param position the last event that it has received or acknowledged
   * @param behind how many events follow that one
   * @param acknowledges whether the position moves by acknowledgement only
   */
  record Item(String name, long position, long behind, boolean acknowledges) {}

  record Listing(long lastEventId, List<Item> subscribers) {}

  /**
   * A subscriber to create.
   *
   * @param from {@code start}, {@code end}, or the last event that it has
   */
  record Creation(Optional<String> from) {
    static Creation read(Fields in) {
      var from = in.optional("from", EventId.decoder());
      in.check();
      return new Creation(from.get().map(EventId::text));
    }
  }

  /** Acknowledges all events up to this one. */
  record Ack(String lastEventId) {
    static Ack read(Fields in) {
      var id = in.required("lastEventId", EventId.decoder());
      in.check();
      return new Ack(id.get().text());
    }
  }

  private Response list(Request request) {
    var stream = StreamRoutes.named(request);
    var positions = Cursors.positions(cursors, stream, MOST_SUBSCRIBERS);
    var acknowledging = subscribers.acknowledging(stream);
    // Reads the end of the stream after the cursors; otherwise a cursor could be ahead of it.
    long last = streams.log().bounds(stream).last();
    var all =
        positions.entrySet().stream()
            .map(
                at ->
                    new Item(
                        at.getKey(),
                        at.getValue(),
                        last - at.getValue(),
                        acknowledging.contains(at.getKey())))
            .toList();
    return Response.ok(new Listing(last, all));
  }

  private Response create(Request request) {
    var key = keyOf(request);
    var from = request.json(Creation::read).from().orElse(END);
    boolean isKnown = streams.cursors().position(key).isPresent();
    subscribers.admitAcknowledging(key.stream(), key.subscriber(), request.actor().name());
    if (!isKnown) {
      acknowledge.begin(key, begin(key, from));
    }
    var now = subscriber(key);
    return isKnown ? Response.ok(now) : Response.created(now);
  }

  private long begin(CursorKey key, String from) {
    var bounds = streams.log().bounds(key.stream());
    return switch (from) {
      case START -> bounds.first() - 1;
      case END -> bounds.last();
      default -> requireInStream(key, new EventId(from), "from");
    };
  }

  private Response ack(Request request) {
    var key = keyOf(request);
    var handled = new EventId(request.json(Ack::read).lastEventId());
    long event = requireInStream(key, handled, "lastEventId");
    subscribers.admitAcknowledging(key.stream(), key.subscriber(), request.actor().name());
    acknowledge.upTo(key, event);
    return Response.ok(subscriber(key));
  }

  private long requireInStream(CursorKey key, EventId id, String field) {
    var number = id.numberIn(streams.log(), key.stream());
    if (number.isEmpty() || number.getAsLong() > streams.log().bounds(key.stream()).last()) {
      throw Problem.invalid(field, "must be the id of an event of this stream").toException();
    }
    return number.getAsLong();
  }

  private Item subscriber(CursorKey key) {
    long position = streams.cursors().position(key).orElse(0);
    long last = streams.log().bounds(key.stream()).last();
    return new Item(key.subscriber(), position, Math.max(0, last - position), true);
  }

  private static CursorKey keyOf(Request request) {
    var name = request.parameter("subscriber");
    if (!CursorKey.isName(name)) {
      throw Problem.invalid(
              "subscriber",
              "must be 1 to 128 letters, digits, dots, colons, underscores and hyphens")
          .toException();
    }
    return new CursorKey(StreamRoutes.named(request), name);
  }
}
