package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A request to read a stream.
 *
 * @param lastEventId the last event that the reader has
 * @param headerId the same, if it came in the reader's Last-Event-ID header
 * @param subscriber the name under which its position is stored
 * @param isStreamClient whether an event client can have sent the request, and not an element of a
 *     page such as an image
 * @param wantsPage whether the reader asks for JSON
 */
record ReadRequest(
    Optional<EventId> lastEventId,
    Optional<EventId> headerId,
    Optional<String> subscriber,
    Optional<Ack> ack,
    int limit,
    boolean isStreamClient,
    boolean wantsPage) {
  private static final String HEADER = "Last-Event-ID";
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;

  /** The value of {@code Sec-Fetch-Dest} if a script in a browser sends the request. */
  private static final Set<String> SCRIPTS = Set.of("", "empty");

  /** The way in which the position of a subscriber moves. */
  enum Ack {
    EXPLICIT,
    DELIVERED
  }

  private record Query(
      Optional<EventId> lastEventId, Optional<String> subscriber, Optional<Ack> ack, int limit) {
    static Query read(Fields in) {
      var id = in.optional("lastEventId", EventId.decoder());
      var subscriber = in.optional("subscriber", Decode.text(128).map(ReadRequest::name));
      var ack =
          in.optional(
              "ack", Decode.oneOf(Decode.words(Ack.class, a -> a.name().toLowerCase(Locale.ROOT))));
      var limit = in.optional("limit", DEFAULT_LIMIT, Decode.integer(1, MAX_LIMIT));
      var token = in.optional("token", Decode.text(4096));
      in.check();
      token.get(); // The gate has checked the token.
      return new Query(id.get(), subscriber.get(), ack.get(), limit.get());
    }
  }

  static ReadRequest of(Request request) {
    var query = request.query(Query::read);
    var header = header(request);
    return new ReadRequest(
        // A reconnecting browser repeats its first address and adds the last id it has seen.
        header.or(query::lastEventId),
        header,
        query.subscriber(),
        query.ack(),
        query.limit(),
        SCRIPTS.contains(request.header("Sec-Fetch-Dest")),
        wantsPage(request.header("Accept")));
  }

  private static boolean wantsPage(String accept) {
    return accept.contains("application/json") && !accept.contains("text/event-stream");
  }

  static String name(String text) {
    if (!CursorKey.isName(text)) {
      throw new IllegalArgumentException(
          "must be letters, digits, dots, colons, underscores and hyphens");
    }
    return text;
  }

  private static Optional<EventId> header(Request request) {
    var text = request.header(HEADER);
    try {
      return text.isEmpty() ? Optional.empty() : Optional.of(EventId.of(text));
    } catch (IllegalArgumentException e) {
      throw Problem.invalid(HEADER, String.valueOf(e.getMessage())).toException();
    }
  }
}
