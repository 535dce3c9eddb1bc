package dev.sessionkeeper.sqs;

import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * The attributes of a message that another producer, or SQS itself, wrote beside the body.
 *
 * <p>Handlers see both as properties: an attribute under its own name, an SQS attribute with the
 * prefix {@value #PREFIX}. Bytes are shown as Base64. A dead letter and its replay keep the
 * attributes with their types.
 *
 * @param attributes those of the producer
 * @param system those of SQS, by their names as properties
 */
record NativeAttributes(Map<String, MessageAttributeValue> attributes, Map<String, String> system) {
  static final String PREFIX = "sqs.";
  static final String TRACE = PREFIX + "AWSTraceHeader";
  static final NativeAttributes NONE = new NativeAttributes(Map.of(), Map.of());

  /** SQS allows ten attributes. Those that do not fit beside ours are packed into this one. */
  private static final String PACKED = "keeper-native";

  private static final int MOST = 10;
  private static final String OURS = "keeper-";
  private static final String BINARY = "Binary";

  /**
   * Reads the attributes of a message.
   *
   * @param meta our metadata, if this product sent the message: it keeps the SQS attributes of the
   *     original
   */
  static NativeAttributes of(Message received, Map<String, String> meta) {
    var attributes = new HashMap<String, MessageAttributeValue>();
    received
        .messageAttributes()
        .forEach(
            (name, value) -> {
              if (!name.startsWith(OURS)) {
                attributes.put(name, value);
              }
            });
    MessageCodec.map(received, PACKED)
        .forEach((name, packed) -> attributes.put(name, unpack(packed)));
    return new NativeAttributes(attributes, systemOf(received, meta));
  }

  private static Map<String, String> systemOf(Message received, Map<String, String> meta) {
    var system = new HashMap<String, String>();
    if (meta.isEmpty()) {
      put(system, received, MessageSystemAttributeName.SENDER_ID);
      put(system, received, MessageSystemAttributeName.SENT_TIMESTAMP);
      put(system, received, MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
    }
    put(system, received, MessageSystemAttributeName.AWS_TRACE_HEADER);
    meta.forEach(
        (name, value) -> {
          if (name.startsWith(PREFIX)) {
            system.put(name, value);
          }
        });
    return system;
  }

  private static void put(
      Map<String, String> system, Message received, MessageSystemAttributeName name) {
    Optional.ofNullable(received.attributes().get(name))
        .ifPresent(value -> system.put(PREFIX + name, value));
  }

  /** Returns both kinds as properties. */
  Map<String, String> asProperties() {
    var properties = new HashMap<>(system);
    attributes.forEach((name, value) -> properties.put(name, textOf(value)));
    return properties;
  }

  private static String textOf(MessageAttributeValue value) {
    return isBinary(value.dataType())
        ? Base64.getEncoder().encodeToString(value.binaryValue().asByteArray())
        : value.stringValue();
  }

  private static boolean isBinary(String dataType) {
    return dataType.startsWith(BINARY);
  }

  /** Adds the producer's attributes to ours, unchanged if there is room. */
  void addTo(Map<String, MessageAttributeValue> ours) {
    int room = MOST - ours.size();
    var sorted = new TreeMap<>(attributes);
    var packed = new HashMap<String, String>();
    while (sorted.size() > (packed.isEmpty() ? room : room - 1)) {
      var last = sorted.pollLastEntry();
      packed.put(last.getKey(), last.getValue().dataType() + " " + textOf(last.getValue()));
    }
    ours.putAll(sorted);
    if (!packed.isEmpty()) {
      ours.put(PACKED, MessageCodec.text(FormText.encode(packed)));
    }
  }

  private static MessageAttributeValue unpack(String packed) {
    int at = packed.indexOf(' ');
    var type = packed.substring(0, at);
    var value = packed.substring(at + 1);
    var unpacked = MessageAttributeValue.builder().dataType(type);
    return isBinary(type)
        ? unpacked.binaryValue(SdkBytes.fromByteArray(Base64.getDecoder().decode(value))).build()
        : unpacked.stringValue(value).build();
  }
}
