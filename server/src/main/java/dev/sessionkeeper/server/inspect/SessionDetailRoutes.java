package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.server.queues.BodyView;
import dev.sessionkeeper.server.queues.Queues;
import dev.sessionkeeper.server.queues.SessionItem;
import dev.sessionkeeper.spi.SessionStatus;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Shows sessions in detail. Reading disturbs no consumer. */
final class SessionDetailRoutes {
  private static final long LEAST_BYTES = 64L << 10;
  private static final long MOST_BYTES = 4L << 20;

  private final Queues queues;
  private final LookAtSessions looks;
  private final Optional<Timeline> timeline;

  SessionDetailRoutes(Queues queues, LookAtSessions looks, Optional<Timeline> timeline) {
    this.queues = queues;
    this.looks = looks;
    this.timeline = timeline;
  }

  List<Route> routes() {
    return List.of(
        Route.get("/queues/{queue}/sessions/search", Role.READ, Scope.queue(), this::search)
            .summary(
                "Search sessions by status and by the beginning of the id, without disturbing consumers")
            .query("status", "attention (waiting, parked or paused; the default) or one status")
            .query("prefix", "Only sessions whose id begins with this text")
            .query("counts", "true: also the number of sessions by status, exact up to 10,000")
            .query("limit", "Sessions per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", Found.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.INVALID_CURSOR),
        Route.get("/queues/{queue}/session", Role.READ, Scope.queue(), this::show)
            .summary("One session, and why it does not move")
            .query("sessionId", "The session")
            .answers(200, "The session", SessionDetail.class)
            .problems(ProblemType.UNKNOWN_QUEUE),
        Route.get("/queues/{queue}/session/messages", Role.READ, Scope.queue(), this::messages)
            .summary("The messages that wait in a session, in their order; at most 4 MB on a page")
            .query("sessionId", "The session")
            .query("limit", "Messages per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", SessionDetail.Messages.class)
            .problems(
                ProblemType.UNKNOWN_QUEUE, ProblemType.INVALID_CURSOR, ProblemType.NOT_SUPPORTED),
        Route.get("/queues/{queue}/session/timeline", Role.READ, Scope.queue(), this::timeline)
            .summary(
                "The history of a session, newest first, with failed attempts of the last seven days")
            .query("sessionId", "The session")
            .query(
                "before",
                "Only what happened before this time: that of the last moment of the page before")
            .answers(200, "At most 200 events", SessionDetail.Timeline.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_SUPPORTED),
        Route.get("/queues/{queue}/session/state", Role.READ, Scope.queue(), this::state)
            .summary("The state of a session")
            .query("sessionId", "The session")
            .answers(200, "The state", SessionDetail.State.class)
            .problems(ProblemType.UNKNOWN_QUEUE, ProblemType.NOT_SUPPORTED));
  }

  /**
   * A page of sessions, by id.
   *
   * @param backlogIsExact false if some messages are in message batches, which lists do not count
   * @param counts present if requested and supported by the provider
   */
  record Found(
      List<SessionItem> sessions,
      boolean backlogIsExact,
      Optional<Counts> counts,
      Optional<String> nextCursor) {}

  /**
   * The numbers of sessions, exact up to 10,000.
   *
   * @param attention waiting, parked or paused
   */
  record Counts(long attention, long held, long ready) {}

  private record Wish(SearchSessions.Filter filter, boolean isCounted, Page.Request page) {
    static Wish read(Fields in) {
      var status = in.optional("status", SearchSessions.Filter.ATTENTION, statuses());
      var prefix = in.optional("prefix", "", Decode.text(128));
      var isCounted =
          in.optional("counts", false, Decode.oneOf(Map.of("true", true, "false", false)));
      var page = Request.page(in);
      return new Wish(new SearchSessions.Filter(status.get(), prefix.get()), isCounted.get(), page);
    }
  }

  /** Decodes one status, or the word {@code attention} for all statuses that need an operator. */
  static Decoder<Set<SessionStatus>> statuses() {
    Map<String, Set<SessionStatus>> words = new LinkedHashMap<>();
    words.put("attention", SearchSessions.Filter.ATTENTION);
    for (var status : SessionStatus.values()) {
      words.put(SessionItem.word(status), Set.of(status));
    }
    return Decode.oneOf(words);
  }

  private Response search(Request request) {
    var queue = queues.named(request);
    var wish = request.query(Wish::read);
    queues.settings(queue);
    var found = looks.page(queue, wish.filter(), wish.page());
    var counts = wish.isCounted() ? looks.counts(queue) : Optional.<SearchSessions.Counts>empty();
    return Response.ok(
        new Found(
            found.page().items().stream().map(SessionItem::of).toList(),
            found.isBacklogExact(),
            counts.map(count -> new Counts(count.attention(), count.held(), count.ready())),
            found.page().next()));
  }

  private record Named(SessionId session, Page.Request page) {
    static Named read(Fields in) {
      var session = in.required("sessionId", Decode.text().map(SessionId::of));
      var page = Request.page(in);
      return new Named(session.get(), page);
    }
  }

  private static SessionId session(Request request) {
    return request.query(
        in -> {
          var session = in.required("sessionId", Decode.text().map(SessionId::of));
          in.check();
          return session.get();
        });
  }

  private Response show(Request request) {
    var queue = queues.named(request);
    var session = session(request);
    return Response.ok(
        SessionDetail.of(queue.value(), session.value(), looks.look(queue, session)));
  }

  private Response messages(Request request) {
    var queue = queues.named(request);
    var wish = request.query(Named::read);
    queues.settings(queue);
    var fitting = wish.page().withMaxBytes(request.reserve(LEAST_BYTES, MOST_BYTES));
    var page = looks.search().waiting(queue, wish.session(), fitting);
    return Response.ok(
        new SessionDetail.Messages(
            page.items().stream().map(SessionDetailRoutes::waiting).toList(), page.next()));
  }

  private static SessionDetail.Waiting waiting(SearchSessions.Waiting one) {
    var message = one.message();
    var body = BodyView.of(message.payload());
    return new SessionDetail.Waiting(
        one.sequence(),
        message.id().value(),
        body.json(),
        body.text(),
        body.base64(),
        message.payload().size(),
        message.payload().contentType(),
        message.properties(),
        one.attempts(),
        one.enqueuedAt(),
        one.dueAt(),
        Optional.of(one.lastError()).filter(error -> !error.isEmpty()));
  }

  private record When(SessionId session, Optional<Instant> before) {}

  private Response timeline(Request request) {
    var queue = queues.named(request);
    var wish =
        request.query(
            in -> {
              var session = in.required("sessionId", Decode.text().map(SessionId::of));
              var before = in.optional("before", Decode.instant());
              in.check();
              return new When(session.get(), before.get());
            });
    queues.settings(queue);
    looks.search();
    return Response.ok(timeline.orElseThrow().of(queue, wish.session(), wish.before()));
  }

  private Response state(Request request) {
    var queue = queues.named(request);
    var session = session(request);
    queues.settings(queue);
    return Response.ok(
        looks
            .search()
            .state(queue, session)
            .map(SessionDetailRoutes::view)
            .orElseGet(
                () ->
                    new SessionDetail.State(
                        0,
                        0,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty())));
  }

  private static SessionDetail.State view(SearchSessions.State state) {
    var bytes = state.bytes();
    var json = bytes.length == 0 ? Optional.<RawJson>empty() : RawJson.of(bytes);
    var text = json.isPresent() ? Optional.<String>empty() : text(bytes);
    return new SessionDetail.State(
        state.version(),
        bytes.length,
        Optional.of(state.updatedAt()),
        json,
        text,
        json.isPresent() || text.isPresent()
            ? Optional.empty()
            : Optional.of(Base64.getEncoder().encodeToString(bytes)));
  }

  private static Optional<String> text(byte[] bytes) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  /** Returns the repaired payload, in the form that the message had. */
  static Payload payload(Payload before, String text) {
    return switch (before.form()) {
      case JSON -> Payload.json(text);
      case TEXT -> Payload.text(text, before.contentType());
      case BYTES -> Payload.bytes(text.getBytes(StandardCharsets.UTF_8), before.contentType());
    };
  }
}
