package dev.sessionkeeper.server.streams;

import java.nio.charset.StandardCharsets;

/**
 * An event as it goes over the wire, made once for all readers.
 *
 * @param id the event's number, which the reader's cursor moves to
 */
record Frame(long id, byte[] bytes) {
  /** The event that says: what you asked for is gone, here is where it goes on. */
  static final String GAP = "gap";

  /** The last event of a reader that did not keep up. */
  static final String SLOW_READER = "slow-reader";

  static Frame of(StreamEvent event) {
    // Readers resume from the id. The number tells how events with ids of their publisher follow.
    var number = event.externalId().isEmpty() ? "" : "number: " + event.id() + "\n";
    return new Frame(
        event.id(), encode("id: " + event.shownId() + "\n" + number, event.event(), event.data()));
  }

  /** Returns the frame for a reader whose next events are already deleted. */
  static Frame gap(long had, long first) {
    var data = "{\"lastEventId\":%d,\"firstId\":%d}".formatted(had, first);
    return new Frame(first - 1, encode("id: " + (first - 1) + "\n", GAP, data));
  }

  /** Tells a slow reader from where to read on. Has no id: the reader keeps its own. */
  static byte[] slowReader(long sent) {
    return encode("", SLOW_READER, "{\"lastEventId\":" + sent + "}");
  }

  static byte[] comment(String text) {
    return (":" + text + "\n\n").getBytes(StandardCharsets.UTF_8);
  }

  /** How long a client should wait before it connects again. */
  static byte[] retry(long millis) {
    return ("retry: " + millis + "\n\n").getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] encode(String id, String event, String data) {
    var text = new StringBuilder(data.length() + 64).append(id).append("event: ").append(event);
    // JSON may be written over many lines; each becomes one of its own.
    for (var line : data.split("\r\n|\r|\n", -1)) {
      text.append("\ndata: ").append(line);
    }
    return text.append("\n\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The names that only the server itself gives to events. */
  static boolean isReserved(String event) {
    return event.equals(GAP) || event.equals(SLOW_READER);
  }
}
