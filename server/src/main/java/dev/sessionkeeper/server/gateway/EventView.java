package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.server.json.RawJson;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * An event as people see it.
 *
 * @param sessionId in entity scope
 * @param routedTo the bots that got it when it came
 */
record EventView(
    String eventId,
    String deliveryId,
    String type,
    Optional<String> action,
    Optional<String> repository,
    String entityType,
    String entityId,
    String sessionId,
    Instant receivedAt,
    long payloadBytes,
    List<String> routedTo) {

  /** A page of events, newest first. */
  record Listing(List<EventView> events, Optional<String> nextCursor) {}

  /**
   * All about one event but its payload.
   *
   * @param bots every bot of that time, matched or not, and why
   * @param messages what was sent for it, replays included
   */
  record Detail(
      EventView event,
      String contentType,
      String traceparent,
      RawJson headers,
      RawJson bots,
      List<RoutedMessage> messages,
      String payload) {}
}
