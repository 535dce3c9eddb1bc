package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.http.TenantFilter;
import dev.sessionkeeper.store.EventLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Lists streams and publishes events. */
final class StreamRoutes {
  /** The prefix of streams of the product itself, such as {@code keeper.registry}. */
  private static final String OWN = "keeper.";

  private static final String LIST = "streams";
  private static final String KEY = "Idempotency-Key";
  private static final int MAX_KEY = 200;

  private final Streams streams;

  StreamRoutes(Streams streams) {
    this.streams = streams;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/streams", Role.READ, Scope.streams(), this::list)
            .summary("Streams by name; a credential of a tenant sees the streams of its tenant")
            .query("limit", "Streams per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", Item.Listing.class)
            .problems(ProblemType.INVALID_CURSOR),
        Route.post("/streams/{stream}/events", Role.SEND, Scope.stream(), this::publish)
            .summary("Append an event to a stream")
            .header(KEY, "Identifies the request: a repetition appends nothing")
            .takes(PublishRequest.class)
            .answers(201, "The events are durable", Published.class),
        Route.post("/streams/{stream}/events/batch", Role.SEND, Scope.stream(), this::publishAll)
            .summary("Append up to 1,000 events in order, all or none")
            .header(KEY, "Identifies the request: a repetition appends nothing")
            .takes(PublishRequest.Batch.class)
            .answers(201, "The events are durable", Published.Batch.class));
  }

  /** A stream and its bounds. */
  record Item(String name, long firstEventId, long lastEventId) {
    static Item of(StreamLog.Named stream) {
      return new Item(stream.name(), stream.bounds().first(), stream.bounds().last());
    }

    /** A page of streams. */
    record Listing(List<Item> streams, Optional<String> nextCursor) {}
  }

  /** An event that was stored. */
  record Published(long id, Optional<String> eventId, boolean duplicate) {
    /** Events that were stored, in the order of the request. */
    record Batch(List<Published> events) {}
  }

  private Response list(Request request) {
    var page = request.query(Request::page);
    var after = page.cursor().map(text -> PageCursor.keyOf(LIST, 1, text).getFirst()).orElse("");
    var all = visible(request.reach(), after, page.limit() + 1);
    boolean isMore = all.size() > page.limit();
    var items = all.stream().limit(page.limit()).map(Item::of).toList();
    return Response.ok(
        new Item.Listing(
            items,
            isMore
                ? Optional.of(PageCursor.after(LIST, items.getLast().name()))
                : Optional.empty()));
  }

  /**
   * Returns the streams that the caller may see; a caller bound to a tenant also reads its part of
   * the registry's stream.
   */
  private List<StreamLog.Named> visible(Reach reach, String after, int limit) {
    if (reach.isEverything()) {
      return streams.log().list("", after, limit);
    }
    if (!(reach.tenants() instanceof TenantFilter.Only only)) {
      return List.of();
    }
    var found = new ArrayList<>(streams.log().list(EventLog.REGISTRY, after, 1));
    var prefix = Reach.streamPrefix(only.tenant());
    var bare = prefix.substring(0, prefix.length() - 1);
    streams.log().list(bare, after, limit).stream()
        .filter(stream -> reach.includesStream(stream.name()))
        .forEach(found::add);
    found.removeIf(stream -> !reach.includesEventsOf(stream.name()));
    return found.stream().limit(limit).toList();
  }

  private Response publish(Request request) {
    var event = request.json(PublishRequest::read);
    return Response.created(append(request, List.of(event)).getFirst());
  }

  private Response publishAll(Request request) {
    var events = request.json(PublishRequest.Batch::read).events();
    return Response.created(new Published.Batch(append(request, events)));
  }

  private List<Published> append(Request request, List<PublishRequest> events) {
    var stream = named(request);
    if (stream.startsWith(OWN)) {
      throw Problem.invalid("stream", "must not begin with " + OWN).toException();
    }
    var key = keyOf(request);
    var appended =
        streams
            .log()
            .append(
                stream,
                IntStream.range(0, events.size())
                    .mapToObj(place -> events.get(place).toEvent(key, place))
                    .toList());
    streams.tails().published(stream);
    appended.stream()
        .filter(event -> !event.duplicate())
        .forEach(e -> streams.meters().published());
    return IntStream.range(0, events.size())
        .mapToObj(
            place ->
                new Published(
                    appended.get(place).id(),
                    events.get(place).eventId(),
                    appended.get(place).duplicate()))
        .toList();
  }

  /**
   * Returns the idempotency key, bound to the credential: another credential's request is never a
   * repetition.
   */
  private static Optional<String> keyOf(Request request) {
    var key = request.header(KEY);
    if (key.length() > MAX_KEY) {
      throw Problem.invalid(KEY, "must have at most " + MAX_KEY + " characters").toException();
    }
    return key.isEmpty() ? Optional.empty() : Optional.of(ownerOf(request) + ":" + key);
  }

  /** Returns the name of the credential without colons, so that it ends at the first one. */
  private static String ownerOf(Request request) {
    return request.actor().name().replace("%", "%25").replace(":", "%3A");
  }

  /** Returns the stream named in the path. */
  static String named(Request request) {
    var stream = request.parameter("stream");
    if (!CursorKey.isName(stream)) {
      throw Problem.invalid(
              "stream", "must be 1 to 128 letters, digits, dots, colons, underscores and hyphens")
          .toException();
    }
    return stream;
  }
}
