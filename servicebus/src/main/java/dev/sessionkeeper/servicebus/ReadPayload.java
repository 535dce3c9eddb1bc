package dev.sessionkeeper.servicebus;

import com.azure.core.amqp.models.AmqpMessageBody;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import dev.sessionkeeper.Payload;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads the body of a message of any producer.
 *
 * <p>AMQP has three kinds: bytes, one value, and a sequence of values. JMS clients send a text as a
 * value. A value or sequence that is neither text nor bytes is shown as text.
 */
final class ReadPayload {
  private static final String BYTES = "application/octet-stream";
  private static final String TEXT = "text/plain; charset=utf-8";

  private ReadPayload() {}

  /**
   * Returns the payload.
   *
   * @param form the form that our own sender noted; empty for other producers
   */
  static Payload of(ServiceBusReceivedMessage received, Optional<Payload.Form> form) {
    var type = Optional.ofNullable(received.getContentType());
    var body = received.getRawAmqpMessage().getBody();
    return switch (body.getBodyType()) {
      case DATA ->
          Payload.stored(
              received.getBody().toBytes(), form.orElse(Payload.Form.BYTES), type.orElse(BYTES));
      case VALUE -> ofValue(body, type);
      case SEQUENCE -> text(String.valueOf(body.getSequence()), type);
    };
  }

  private static Payload ofValue(AmqpMessageBody body, Optional<String> type) {
    return body.getValue() instanceof byte[] bytes
        ? Payload.stored(bytes, Payload.Form.BYTES, type.orElse(BYTES))
        : text(String.valueOf(body.getValue()), type);
  }

  private static Payload text(String text, Optional<String> type) {
    return Payload.stored(
        text.getBytes(StandardCharsets.UTF_8), Payload.Form.TEXT, type.orElse(TEXT));
  }
}
