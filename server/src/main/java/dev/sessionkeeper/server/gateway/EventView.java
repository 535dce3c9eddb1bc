package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.server.json.RawJson;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * An event, as the API shows it.
 *
 * @param sessionId in entity scope
 * @param routedTo the bots that received it at its arrival
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
   * An event with its routes, without its payload.
   *
   * @param bots every bot configured at that time, whether it matched, and why
   * @param messages the messages sent for it, including replays
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
