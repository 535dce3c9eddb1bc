package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * An event to be published.
 *
 * @param event its name; {@code message} when it is left out
 * @param data any JSON value, kept as it was sent
 */
record PublishRequest(Optional<String> event, JsonValue data) {
  private static final int MAX_NAME = 128;
  private static final int MAX_DATA = 1 << 20;
  private static final String DEFAULT_NAME = "message";

  static PublishRequest read(Fields in) {
    var event = in.optional("event", Decode.text(MAX_NAME).map(PublishRequest::name));
    var data = in.required("data", Decode.any());
    in.check();
    return new PublishRequest(event.get(), data.get());
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

  String name() {
    return event.orElse(DEFAULT_NAME);
  }

  /** The value as it was sent. */
  String json() {
    var bytes = data.span().bytes();
    if (bytes.length > MAX_DATA) {
      throw new KeeperException.LimitExceeded("maxEventBytes", MAX_DATA, bytes.length);
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
