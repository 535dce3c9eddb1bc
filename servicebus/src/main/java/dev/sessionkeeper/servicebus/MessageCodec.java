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
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Our messages as those of Service Bus, and back. Ids, sessions, content types, times to live and
 * properties are native, so other clients can read and write them; what Service Bus has no place
 * for is in properties that begin with {@value #PREFIX}.
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
    encoded.getApplicationProperties().putAll(message.properties());
    encoded.getApplicationProperties().put(FORM, message.payload().form().name());
    message.notBefore().ifPresent(at -> delay(encoded, at, mode));
    return encoded;
  }

  /** The broker shows its own limit where the sender gave none, so the sender's is kept apart. */
  private static void expire(ServiceBusMessage encoded, Duration ttl) {
    encoded.setTimeToLive(ttl);
    encoded.getApplicationProperties().put(TTL, ttl.toMillis());
  }

  /** A scheduled message would lose its place, so in a session it is held back by the receiver. */
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

  static Message decode(ServiceBusReceivedMessage received) {
    var all = received.getApplicationProperties();
    var properties = new HashMap<String, String>();
    all.forEach(
        (name, value) -> {
          if (!name.startsWith(PREFIX) && !BROKER_OWN.contains(name)) {
            properties.put(name, String.valueOf(value));
          }
        });
    return new Message(
        MessageId.of(text(all, ID).orElseGet(() -> idOf(received))),
        Optional.ofNullable(received.getSessionId()).map(SessionId::of),
        payloadOf(received),
        properties,
        number(received, TTL).map(Duration::ofMillis),
        Optional.ofNullable(all.get(NOT_BEFORE))
            .map(at -> Instant.ofEpochMilli(((Number) at).longValue())));
  }

  /**
   * The dead letter as a message again. The broker would swallow an id that it knows, so it gets a
   * new one; the same one for every attempt to replay, so that a repeated replay has one effect.
   */
  static ServiceBusMessage replay(ServiceBusReceivedMessage dead, QueueMode mode, long sequence) {
    var message = decode(dead);
    int replays = number(dead, REPLAYS).orElse(0L).intValue() + 1;
    var encoded = encode(message.withProperties(message.properties()), mode);
    encoded.setMessageId(replayId(message.id(), replays));
    encoded.getApplicationProperties().put(ID, message.id().value());
    encoded.getApplicationProperties().put(REPLAYS, (long) replays);
    encoded.getApplicationProperties().put(SEQUENCE, sequence);
    return encoded;
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

  /** When a message may be handed out at the earliest, in milliseconds; 0 when at once. */
  static long notBefore(ServiceBusReceivedMessage received) {
    return number(received, NOT_BEFORE).orElse(0L);
  }

  static Optional<Long> number(ServiceBusReceivedMessage received, String name) {
    return Optional.ofNullable(received.getApplicationProperties().get(name))
        .map(value -> ((Number) value).longValue());
  }

  static Optional<String> text(Map<String, Object> properties, String name) {
    return Optional.ofNullable(properties.get(name)).map(Object::toString);
  }

  private static String idOf(ServiceBusReceivedMessage received) {
    var id = received.getMessageId();
    return id == null || id.isBlank() ? "sequence-" + received.getSequenceNumber() : id;
  }

  private static Payload payloadOf(ServiceBusReceivedMessage received) {
    var type = received.getContentType();
    return Payload.stored(
        received.getBody().toBytes(),
        text(received.getApplicationProperties(), FORM)
            .map(Payload.Form::valueOf)
            .orElse(Payload.Form.BYTES),
        type == null ? "application/octet-stream" : type);
  }
}
