package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * An event to publish.
 *
 * @param event its name; {@code message} by default
 * @param data any JSON value, stored as it was sent
 * @param eventId the publisher's own id
 */
record PublishRequest(Optional<String> event, JsonValue data, Optional<String> eventId) {
  private static final int MAX_NAME = 128;
  private static final int MAX_DATA = 1 << 20;
  private static final int MAX_BATCH = 1_000;
  private static final String DEFAULT_NAME = "message";

  static PublishRequest read(Fields in) {
    var event = in.optional("event", Decode.text(MAX_NAME).map(PublishRequest::name));
    var data = in.required("data", Decode.any());
    var id = in.optional("eventId", Decode.text(EventId.MAX_LENGTH).map(EventId::requireExternal));
    in.check();
    return new PublishRequest(event.get(), data.get(), id.get());
  }

  /** Events to publish together, all or none. */
  record Batch(List<PublishRequest> events) {
    static Batch read(Fields in) {
      var events =
          in.required("events", Decode.list(1, MAX_BATCH, Decode.object(PublishRequest::read)));
      in.check();
      return new Batch(events.get());
    }
  }

  private static String name(String text) {
    if (text.isBlank() || text.codePoints().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException("must have text and no control characters");
    }
    if (Frame.isReserved(text)) {
      throw new IllegalArgumentException("is a name that only the server gives to events");
    }
    return text;
  }

  /**
   * Returns the event as it is stored.
   *
   * @param requestKey the key of the request; the event's own id takes precedence
   * @param place the index of the event in the request
   */
  NewEvent toEvent(Optional<String> requestKey, int place) {
    var key =
        eventId.map(NewEvent::keyOf).or(() -> requestKey.map(text -> NewEvent.keyOf(text, place)));
    return new NewEvent(event.orElse(DEFAULT_NAME), json(), eventId, key);
  }

  /** Returns the value as it was sent. */
  private String json() {
    var bytes = data.span().bytes();
    if (bytes.length > MAX_DATA) {
      throw new KeeperException.LimitExceeded("maxEventBytes", MAX_DATA, bytes.length);
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
