package dev.sessionkeeper;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A message as its producer sends it. Immutable; the {@code with} methods return a copy.
 *
 * @param id identifies the message; a second message with this id within the duplicate window is
 *     not stored
 * @param session the session; present exactly when the queue is ordered
 * @param properties short texts beside the payload
 * @param ttl how long the message may wait; if empty, the queue's own limit applies
 * @param notBefore the earliest delivery; in an ordered queue the later messages of its session
 *     wait behind it
 */
public record Message(
    MessageId id,
    Optional<SessionId> session,
    Payload payload,
    Map<String, String> properties,
    Optional<Duration> ttl,
    Optional<Instant> notBefore) {
  public Message {
    properties = Map.copyOf(properties);
    ttl.ifPresent(t -> Limits.requirePositive("ttl", t));
  }

  public static Message of(SessionId session, Payload payload) {
    return new Message(
        MessageId.random(),
        Optional.of(session),
        payload,
        Map.of(),
        Optional.empty(),
        Optional.empty());
  }

  /** Returns a message for an unordered queue. */
  public static Message unordered(Payload payload) {
    return new Message(
        MessageId.random(),
        Optional.empty(),
        payload,
        Map.of(),
        Optional.empty(),
        Optional.empty());
  }

  /** Returns the bytes of the payload and of the properties as UTF-8. */
  public int size() {
    return payload.size() + (properties.isEmpty() ? 0 : Limits.propertyBytes(this));
  }

  /** Returns a copy in this session, such as a {@link SessionKeyExtractor} chooses. */
  public Message inSession(SessionId newSession) {
    return new Message(id, Optional.of(newSession), payload, properties, ttl, notBefore);
  }

  public Message withId(MessageId newId) {
    return new Message(newId, session, payload, properties, ttl, notBefore);
  }

  public Message withProperty(String name, String value) {
    var more = new HashMap<>(properties);
    more.put(name, value);
    return new Message(id, session, payload, more, ttl, notBefore);
  }

  public Message withProperties(Map<String, String> all) {
    return new Message(id, session, payload, all, ttl, notBefore);
  }

  public Message withTtl(Duration newTtl) {
    return new Message(id, session, payload, properties, Optional.of(newTtl), notBefore);
  }

  public Message notBefore(Instant earliest) {
    return new Message(id, session, payload, properties, ttl, Optional.of(earliest));
  }
}
