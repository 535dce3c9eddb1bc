package dev.sessionkeeper.server.streams;

import java.util.Optional;

/**
 * An event to append.
 *
 * @param data a JSON document
 * @param externalId the publisher's own id
 * @param key unique in the stream; a second event with this key is a duplicate
 */
record NewEvent(String event, String data, Optional<String> externalId, Optional<String> key) {
  /** Returns an event without an id of its publisher. */
  static NewEvent of(String event, String data) {
    return new NewEvent(event, data, Optional.empty(), Optional.empty());
  }

  /** Returns the key of the event with this external id. */
  static String keyOf(String externalId) {
    return "id:" + externalId;
  }

  /** Returns the key of the event at this index of a request with an idempotency key. */
  static String keyOf(String idempotencyKey, int place) {
    return "request:" + idempotencyKey + ":" + place;
  }

  /**
   * The result of appending an event.
   *
   * @param id its number
   * @param duplicate whether it was stored before
   */
  record Appended(long id, boolean duplicate) {}
}
