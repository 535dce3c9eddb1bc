package dev.sessionkeeper.server.streams;

import java.nio.charset.StandardCharsets;

/**
 * An event in the format of server-sent events, made once for all readers.
 *
 * @param id the event's number, to which the reader's cursor moves
 */
record Frame(long id, byte[] bytes) {
  /**
   * The name of the event that reports a gap: the requested events were deleted, and where the
   * stream continues.
   */
  static final String GAP = "gap";

  /** The name of the last event that a reader gets that did not keep up. */
  static final String SLOW_READER = "slow-reader";

  static Frame of(StreamEvent event) {
    // Readers resume from the id. The number lets clients order events that have ids of their
    // publisher.
    var number = event.externalId().isEmpty() ? "" : "number: " + event.id() + "\n";
    return new Frame(
        event.id(), encode("id: " + event.shownId() + "\n" + number, event.event(), event.data()));
  }

  /** Returns the frame for a reader whose next events are already deleted. */
  static Frame gap(long had, long first) {
    var data = "{\"lastEventId\":%d,\"firstId\":%d}".formatted(had, first);
    return new Frame(first - 1, encode("id: " + (first - 1) + "\n", GAP, data));
  }

  /**
   * Returns the frame that tells a slow reader where to resume. It has no id, so the reader keeps
   * its own.
   */
  static byte[] slowReader(long sent) {
    return encode("", SLOW_READER, "{\"lastEventId\":" + sent + "}");
  }

  static byte[] comment(String text) {
    return (":" + text + "\n\n").getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the field that tells a client how long to wait before it reconnects. */
  static byte[] retry(long millis) {
    return ("retry: " + millis + "\n\n").getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] encode(String id, String event, String data) {
    var text = new StringBuilder(data.length() + 64).append(id).append("event: ").append(event);
    // JSON may contain line breaks; each line becomes a field of its own.
    for (var line : data.split("\r\n|\r|\n", -1)) {
      text.append("\ndata: ").append(line);
    }
    return text.append("\n\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Returns whether only the server itself may use this event name. */
  static boolean isReserved(String event) {
    return event.equals(GAP) || event.equals(SLOW_READER);
  }
}
