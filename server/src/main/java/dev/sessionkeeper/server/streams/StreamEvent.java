package dev.sessionkeeper.server.streams;

import java.time.Instant;
import java.util.Optional;

/**
 * One event of a stream.
 *
 * @param id its number; the first is 1, without gaps
 * @param externalId the publisher's own id
 * @param data a JSON document
 */
record StreamEvent(long id, Optional<String> externalId, String event, String data, Instant at) {
  /** Returns the id that readers see and resume from. */
  String shownId() {
    return externalId.orElseGet(() -> Long.toString(id));
  }
}
