package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A reader of a stream.
 *
 * @param lastEventId the last event that it has
 * @param subscriber the name under which its cursor is kept
 */
record ReadRequest(OptionalLong lastEventId, Optional<String> subscriber) {
  private static final String HEADER = "Last-Event-ID";

  static ReadRequest of(Request request) {
    var query = request.query(ReadRequest::read);
    var header = request.header(HEADER);
    // A reconnecting browser repeats its first address and adds what it has seen since.
    return header.isEmpty() ? query : new ReadRequest(number(header), query.subscriber());
  }

  private static ReadRequest read(Fields in) {
    var id = in.optional("lastEventId", Decode.integer(0L, Long.MAX_VALUE - 1));
    var subscriber = in.optional("subscriber", Decode.text(128).map(ReadRequest::name));
    in.check();
    return new ReadRequest(
        id.get().map(OptionalLong::of).orElse(OptionalLong.empty()), subscriber.get());
  }

  private static String name(String text) {
    if (!CursorKey.isName(text)) {
      throw new IllegalArgumentException(
          "must be letters, digits, dots, colons, underscores and hyphens");
    }
    return text;
  }

  private static OptionalLong number(String header) {
    if (!header.matches("\\d{1,18}")) {
      throw Problem.invalid(HEADER, "must be the id of an event of this stream").toException();
    }
    return OptionalLong.of(Long.parseLong(header));
  }
}
