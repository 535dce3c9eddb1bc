package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.json.RawJson;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Events of a stream as JSON.
 *
 * @param nextLastEventId where the next page begins; absent if there is no further event now
 */
record StreamPage(List<Event> events, long lastEventId, Optional<Long> nextLastEventId) {

  /** One event. */
  record Event(long id, Optional<String> eventId, String event, RawJson data, Instant at) {}

  /**
   * Creates a page.
   *
   * @param end the number of the newest event of the stream
   * @param last the number of the last event that was examined
   */
  static StreamPage of(List<StreamEvent> events, long end, long last) {
    return new StreamPage(
        events.stream()
            .map(
                event ->
                    new Event(
                        event.id(),
                        event.externalId(),
                        event.event(),
                        new RawJson(event.data()),
                        event.at()))
            .toList(),
        end,
        last < end ? Optional.of(last) : Optional.empty());
  }
}
