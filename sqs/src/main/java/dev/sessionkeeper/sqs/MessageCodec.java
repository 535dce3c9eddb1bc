package dev.sessionkeeper.sqs;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * Translates between our messages and those of SQS.
 *
 * <p>A text is the SQS body itself; bytes, and texts with characters that SQS refuses, are Base64.
 * Fields that SQS does not have are in the attribute {@value #META}, properties in {@value
 * #PROPERTIES}. A message of another producer, without these, is a text whose properties are its
 * {@link NativeAttributes}.
 */
final class MessageCodec {
  static final String META = "keeper-meta";
  static final String PROPERTIES = "keeper-properties";
  static final String DEAD = "keeper-dead";
  private static final String BASE64 = "base64";
  private static final String PLAIN = "plain";
  private static final String EMPTY = "empty";
  private static final Pattern DIGEST = Pattern.compile("~[0-9a-f]{64}");

  private MessageCodec() {}

  /**
   * A message to send to SQS.
   *
   * @param trace the header of AWS X-Ray; empty if there is none
   * @param size in bytes, as SQS counts them
   */
  record Outgoing(
      String body,
      Map<String, MessageAttributeValue> attributes,
      String group,
      String duplicateId,
      Optional<String> trace,
      int size) {
    Outgoing withDuplicateId(String other) {
      return new Outgoing(body, attributes, group, other, trace, size);
    }
  }

  /** Encodes a message that is sent for the first time. */
  static Outgoing encode(Message message) {
    return encode(message, NativeAttributes.NONE, 0, 0, Map.of());
  }

  /**
   * Encodes a message.
   *
   * @param natives attributes from another producer or from SQS, which are among the message's
   *     properties too
   * @param replays how often it was replayed
   * @param sequence its first sequence number; 0 if it has none yet
   * @param dead why it is a dead letter; empty if it is none
   */
  static Outgoing encode(
      Message message,
      NativeAttributes natives,
      int replays,
      long sequence,
      Map<String, String> dead) {
    var meta = new HashMap<>(natives.system());
    meta.remove(NativeAttributes.TRACE);
    meta.put("id", message.id().value());
    meta.put("form", message.payload().form().name());
    meta.put("type", message.payload().contentType());
    message.session().ifPresent(session -> meta.put("session", session.value()));
    message.ttl().ifPresent(ttl -> meta.put("ttl", ttl.toString()));
    message.notBefore().ifPresent(at -> meta.put("not-before", at.toString()));
    if (replays > 0 || !dead.isEmpty()) {
      meta.put("replays", Integer.toString(replays));
      meta.put("sequence", Long.toString(sequence));
    }
    var encoding = encodingOf(message.payload());
    meta.put("encoding", encoding);
    var body = bodyOf(message.payload(), encoding);
    var attributes = new HashMap<String, MessageAttributeValue>();
    attributes.put(META, text(FormText.encode(meta)));
    var properties = new HashMap<>(message.properties());
    properties.keySet().removeAll(natives.asProperties().keySet());
    properties.remove(NativeAttributes.TRACE);
    if (!properties.isEmpty()) {
      attributes.put(PROPERTIES, text(FormText.encode(properties)));
    }
    if (!dead.isEmpty()) {
      attributes.put(DEAD, text(FormText.encode(dead)));
    }
    natives.addTo(attributes);
    return new Outgoing(
        body,
        attributes,
        message.session().map(MessageCodec::groupOf).orElse(""),
        duplicateId(message.id(), replays),
        Optional.ofNullable(message.properties().get(NativeAttributes.TRACE)),
        sizeOf(body, attributes));
  }

  static MessageAttributeValue text(String value) {
    return MessageAttributeValue.builder().dataType("String").stringValue(value).build();
  }

  private static int sizeOf(String body, Map<String, MessageAttributeValue> attributes) {
    int size = body.getBytes(StandardCharsets.UTF_8).length;
    for (var attribute : attributes.entrySet()) {
      var value = attribute.getValue();
      size += attribute.getKey().length() + value.dataType().length();
      size +=
          value.binaryValue() == null
              ? value.stringValue().getBytes(StandardCharsets.UTF_8).length
              : value.binaryValue().asByteArrayUnsafe().length;
    }
    return size;
  }

  /**
   * Returns the group id, which may contain ASCII letters, digits and punctuation only. A session
   * with other characters, or one that looks like a digest, gets a digest, and its name is stored
   * in an attribute.
   */
  private static String groupOf(SessionId session) {
    var id = session.value();
    return id.chars().allMatch(c -> c > ' ' && c < 127) && !DIGEST.matcher(id).matches()
        ? id
        : "~" + Digest.of(id);
  }

  /**
   * Returns the deduplication id. It is the caller's id, so that SQS detects a repeated send. A
   * replay has an id of its own, because SQS would drop the old one, and the same id when it is
   * repeated.
   */
  private static String duplicateId(MessageId id, int replays) {
    var plain = replays == 0 ? id.value() : id.value() + "~r" + replays;
    return plain.length() <= 128 && plain.chars().allMatch(c -> c > ' ' && c < 127)
        ? plain
        : Digest.of(plain);
  }

  private static String encodingOf(Payload payload) {
    if (payload.size() == 0) {
      return EMPTY;
    }
    return payload.form() != Payload.Form.BYTES && isAllowed(payload.asText()) ? PLAIN : BASE64;
  }

  private static boolean isAllowed(String text) {
    return text.codePoints()
        .allMatch(
            c ->
                c == 0x9
                    || c == 0xa
                    || c == 0xd
                    || (c >= 0x20 && c <= 0xd7ff)
                    || (c >= 0xe000 && c <= 0xfffd && c != 0xfffd)
                    || c >= 0x10000);
  }

  private static String bodyOf(Payload payload, String encoding) {
    return switch (encoding) {
      case EMPTY -> "-";
      case PLAIN -> payload.asText();
      default -> Base64.getEncoder().encodeToString(payload.unsafeBytes());
    };
  }

  static Map<String, String> map(
      software.amazon.awssdk.services.sqs.model.Message received, String attribute) {
    var value = received.messageAttributes().get(attribute);
    return value == null ? Map.of() : FormText.decode(value.stringValue());
  }

  static Message decode(
      software.amazon.awssdk.services.sqs.model.Message received, Optional<String> group) {
    var meta = map(received, META);
    var properties = new HashMap<>(map(received, PROPERTIES));
    properties.putAll(NativeAttributes.of(received, meta).asProperties());
    return new Message(
        MessageId.of(meta.getOrDefault("id", received.messageId())),
        Optional.ofNullable(meta.get("session")).or(() -> group).map(SessionId::of),
        payloadOf(received.body(), meta),
        properties,
        Optional.ofNullable(meta.get("ttl")).map(Duration::parse),
        Optional.ofNullable(meta.get("not-before")).map(Instant::parse));
  }

  private static Payload payloadOf(String body, Map<String, String> meta) {
    var bytes =
        switch (meta.getOrDefault("encoding", PLAIN)) {
          case EMPTY -> new byte[0];
          case BASE64 -> Base64.getDecoder().decode(body);
          default -> body.getBytes(StandardCharsets.UTF_8);
        };
    return Payload.stored(
        bytes,
        Payload.Form.valueOf(meta.getOrDefault("form", Payload.Form.TEXT.name())),
        meta.getOrDefault("type", "text/plain; charset=utf-8"));
  }
}
