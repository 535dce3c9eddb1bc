package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.InvalidInput;
import dev.sessionkeeper.server.json.JsonValue;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** The id of an event as readers use it: its number, or the publisher's own id. */
record EventId(String text) {
  static final int MAX_LENGTH = 200;

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
  private static final Pattern EXTERNAL = Pattern.compile("[!-~]{1," + MAX_LENGTH + "}");

  /**
   * Parses an id that a reader presents.
   *
   * @throws IllegalArgumentException if no event can have this id
   */
  static EventId of(String text) {
    if (!NUMBER.matcher(text).matches() && !EXTERNAL.matcher(text).matches()) {
      throw new IllegalArgumentException("must be the id of an event of this stream");
    }
    if (text.matches("[0-9]{19,}")) {
      throw new IllegalArgumentException("must be a number of at most 18 digits, or a text");
    }
    return new EventId(text);
  }

  /** Decodes a text or a JSON number. */
  static Decoder<EventId> decoder() {
    return value -> {
      var text =
          value instanceof JsonValue.Num number ? number.literal() : Decode.text().decode(value);
      try {
        return of(text);
      } catch (IllegalArgumentException e) {
        throw new InvalidInput("", String.valueOf(e.getMessage()));
      }
    };
  }

  /** Refuses a publisher's id that could be the number of another event. */
  static String requireExternal(String text) {
    if (!EXTERNAL.matcher(text).matches() || text.matches("[0-9]+")) {
      throw new IllegalArgumentException(
          "must be printable ASCII without spaces, at most "
              + MAX_LENGTH
              + " characters, and not a number alone");
    }
    return text;
  }

  /**
   * Returns the number of the event; empty if the stream has no event of that id, or has deleted
   * it.
   */
  OptionalLong numberIn(StreamLog log, String stream) {
    return NUMBER.matcher(text).matches()
        ? OptionalLong.of(Long.parseLong(text))
        : log.find(stream, text);
  }
}
