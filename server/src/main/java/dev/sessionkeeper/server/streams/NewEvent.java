package dev.sessionkeeper.server.streams;

import java.util.Optional;

/**
 * An event to be appended.
 *
 * @param data a JSON document
 * @param externalId the publisher's own id
 * @param key a stream has one event of this key; a second one is a duplicate
 */
record NewEvent(String event, String data, Optional<String> externalId, Optional<String> key) {
  /** An event without an id of its own. */
  static NewEvent of(String event, String data) {
    return new NewEvent(event, data, Optional.empty(), Optional.empty());
  }

  /** The key of the event that has this external id. */
  static String keyOf(String externalId) {
    return "id:" + externalId;
  }

  /** The key of the event at this place of a request that the publisher named. */
  static String keyOf(String idempotencyKey, int place) {
    return "request:" + idempotencyKey + ":" + place;
  }

  /**
   * An event that was appended.
   *
   * @param id its number
   * @param duplicate whether it was there before
   */
  record Appended(long id, boolean duplicate) {}
}
