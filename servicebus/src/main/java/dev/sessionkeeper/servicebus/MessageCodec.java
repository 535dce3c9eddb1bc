package dev.sessionkeeper.servicebus;

import com.azure.core.util.BinaryData;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.SessionId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Translates between our messages and those of Service Bus.
 *
 * <p>Ids, sessions, content types, times to live and properties are native, so other clients can
 * read and write them. {@link NativeFields} shows the other native fields as properties. Values
 * that Service Bus has no field for are in properties that begin with {@value #PREFIX}.
 */
final class MessageCodec {
  static final String PREFIX = "keeper-";
  static final String REPLAYS = PREFIX + "replays";
  static final String SEQUENCE = PREFIX + "sequence";
  static final String ATTEMPTS = PREFIX + "attempts";
  static final String DEAD_AT = PREFIX + "dead-at";
  static final String ERROR = PREFIX + "error";
  static final String ENQUEUED_AT = PREFIX + "enqueued-at";
  private static final Set<String> BROKER_OWN =
      Set.of("DeadLetterReason", "DeadLetterErrorDescription");
  private static final Set<String> OF_DEAD_LETTERS = Set.of(ATTEMPTS, DEAD_AT, ERROR, ENQUEUED_AT);
  private static final Set<String> OF_PRODUCERS =
      Set.of("x-opt-partition-key", "x-opt-scheduled-enqueue-time");
  private static final String ID = PREFIX + "id";
  private static final String FORM = PREFIX + "form";
  private static final String NOT_BEFORE = PREFIX + "not-before";
  private static final String TTL = PREFIX + "ttl";

  private MessageCodec() {}

  static ServiceBusMessage encode(Message message, QueueMode mode) {
    requireNoReserved(message);
    var encoded = new ServiceBusMessage(BinaryData.fromBytes(message.payload().unsafeBytes()));
    encoded.setMessageId(message.id().value());
    encoded.setContentType(message.payload().contentType());
    message.session().ifPresent(session -> encoded.setSessionId(session.value()));
    message.ttl().ifPresent(ttl -> expire(encoded, ttl));
    message
        .properties()
        .forEach(
            (name, value) -> {
              if (!NativeFields.write(encoded, name, value)) {
                encoded.getApplicationProperties().put(name, value);
              }
            });
    encoded.getApplicationProperties().put(FORM, message.payload().form().name());
    message.notBefore().ifPresent(at -> delay(encoded, at, mode));
    return encoded;
  }

  /**
   * Stores the sender's time to live in a property, because the broker shows its own limit if the
   * sender gave none.
   */
  private static void expire(ServiceBusMessage encoded, Duration ttl) {
    encoded.setTimeToLive(ttl);
    encoded.getApplicationProperties().put(TTL, ttl.toMillis());
  }

  /**
   * Delays a message. In a session the receiver does this, because a scheduled message would lose
   * its place.
   */
  private static void delay(ServiceBusMessage encoded, Instant at, QueueMode mode) {
    encoded.getApplicationProperties().put(NOT_BEFORE, at.toEpochMilli());
    if (mode == QueueMode.UNORDERED) {
      encoded.setScheduledEnqueueTime(at.atOffset(ZoneOffset.UTC));
    }
  }

  private static void requireNoReserved(Message message) {
    for (var name : message.properties().keySet()) {
      if (name.startsWith(PREFIX)) {
        throw new KeeperException.Rejected(
            "Property names that begin with " + PREFIX + " are taken, was " + name);
      }
    }
  }

  /** Decodes a message of any producer. A session id that is not valid here is left out. */
  static Message decode(ServiceBusReceivedMessage received) {
    var all = received.getApplicationProperties();
    var properties = new HashMap<String, String>();
    all.forEach(
        (name, value) -> {
          if (!name.startsWith(PREFIX) && !BROKER_OWN.contains(name)) {
            properties.put(name, String.valueOf(value));
          }
        });
    properties.putAll(NativeFields.read(received, !all.containsKey(FORM)));
    return new Message(
        idOf(received),
        Optional.ofNullable(received.getSessionId())
            .filter(NativeFields::isSessionId)
            .map(SessionId::of),
        ReadPayload.of(received, formIn(all)),
        properties,
        number(received, TTL).map(Duration::ofMillis),
        number(received, NOT_BEFORE).map(Instant::ofEpochMilli));
  }

  /**
   * Returns a new message for the replay of a dead letter. The broker would drop a known id, so it
   * gets a new one, which is the same for every attempt, so that a repeated replay has one effect.
   */
  static ServiceBusMessage replay(ServiceBusReceivedMessage dead, QueueMode mode, long sequence) {
    var id = idOf(dead);
    int replays = number(dead, REPLAYS).orElse(0L).intValue() + 1;
    // Copies the broker's message: every field and type stays as its producer wrote it.
    var copy = new ServiceBusMessage(dead);
    copy.getRawAmqpMessage().getProperties().setAbsoluteExpiryTime(null);
    copy.getRawAmqpMessage()
        .getMessageAnnotations()
        .keySet()
        .removeIf(name -> !OF_PRODUCERS.contains(name));
    var properties = copy.getApplicationProperties();
    properties.keySet().removeAll(BROKER_OWN);
    properties.keySet().removeAll(OF_DEAD_LETTERS);
    if (properties.containsKey(FORM) && !properties.containsKey(TTL)) {
      // The broker has filled in its own limit, which may have changed since.
      copy.getRawAmqpMessage().getHeader().setTimeToLive(null);
    }
    number(dead, NOT_BEFORE)
        .filter(at -> mode == QueueMode.UNORDERED)
        .map(Instant::ofEpochMilli)
        .ifPresent(at -> copy.setScheduledEnqueueTime(at.atOffset(ZoneOffset.UTC)));
    copy.setMessageId(replayId(id, replays));
    properties.put(ID, id.value());
    properties.put(REPLAYS, (long) replays);
    properties.put(SEQUENCE, sequence);
    return copy;
  }

  private static String replayId(MessageId id, int replays) {
    var plain = id.value() + "~r" + replays;
    return plain.length() <= MessageId.MAX_LENGTH ? plain : "~r" + replays + "-" + digest(plain);
  }

  private static String digest(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }

  /** Returns the earliest time of delivery in milliseconds; 0 if there is none. */
  static long notBefore(ServiceBusReceivedMessage received) {
    return number(received, NOT_BEFORE).orElse(0L);
  }

  static Optional<Long> number(ServiceBusReceivedMessage received, String name) {
    return received.getApplicationProperties().get(name) instanceof Number number
        ? Optional.of(number.longValue())
        : Optional.empty();
  }

  static Optional<String> text(Map<String, Object> properties, String name) {
    return Optional.ofNullable(properties.get(name)).map(Object::toString);
  }

  private static Optional<Payload.Form> formIn(Map<String, Object> properties) {
    var name = text(properties, FORM).orElse("");
    return Arrays.stream(Payload.Form.values())
        .filter(form -> form.name().equals(name))
        .findFirst();
  }

  private static MessageId idOf(ServiceBusReceivedMessage received) {
    return text(received.getApplicationProperties(), ID)
        .or(() -> Optional.ofNullable(received.getMessageId()))
        .filter(NativeFields::isMessageId)
        .map(MessageId::of)
        .orElseGet(() -> MessageId.of("sequence-" + received.getSequenceNumber()));
  }
}
