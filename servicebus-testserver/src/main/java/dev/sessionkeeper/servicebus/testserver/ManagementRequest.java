package dev.sessionkeeper.servicebus.testserver;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.qpid.proton.amqp.messaging.AmqpValue;
import org.apache.qpid.proton.message.Message;
import org.jspecify.annotations.Nullable;

/** A client's request to a management node. */
final class ManagementRequest {
  private final Map<String, Object> properties;
  private final Map<?, ?> body;

  ManagementRequest(Message message) {
    properties = message.getApplicationProperties().getValue();
    body =
        message.getBody() instanceof AmqpValue value && value.getValue() instanceof Map<?, ?> map
            ? map
            : Map.of();
  }

  String operation() {
    return String.valueOf(properties.get("operation"));
  }

  /** Returns the receiver on whose behalf the client asks. */
  Optional<String> link() {
    return Optional.ofNullable(properties.get("associated-link-name")).map(Object::toString);
  }

  @Nullable Object optional(String name) {
    return body.get(name);
  }

  @Nullable String session() {
    return (String) body.get("session-id");
  }

  Object required(String name) {
    var value = body.get(name);
    if (value == null) {
      throw new IllegalArgumentException(operation() + " needs " + name);
    }
    return value;
  }

  long number(String name) {
    return ((Number) required(name)).longValue();
  }

  /** Returns a list or an array as a list. */
  List<?> list(String name) {
    return switch (required(name)) {
      case long[] numbers -> Arrays.stream(numbers).boxed().toList();
      case Object[] array -> List.of(array);
      case List<?> list -> list;
      default -> throw new IllegalArgumentException(name + " must be a list");
    };
  }
}
