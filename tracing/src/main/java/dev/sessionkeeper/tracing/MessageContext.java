package dev.sessionkeeper.tracing;

import dev.sessionkeeper.Message;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the trace context into the properties of a message and reads it back (W3C Trace Context).
 */
public final class MessageContext {
  /** The message property and HTTP header with the trace context. */
  public static final String TRACEPARENT = "traceparent";

  private static final W3CTraceContextPropagator W3C = W3CTraceContextPropagator.getInstance();
  private static final TextMapGetter<Map<String, String>> PROPERTIES =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Map<String, String> properties) {
          return properties.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> properties, String name) {
          return properties == null ? null : properties.get(name);
        }
      };

  private MessageContext() {}

  /**
   * Returns the message with this trace context, unless the message has one already or there is
   * none.
   */
  public static Message write(Context context, Message message) {
    if (message.properties().containsKey(TRACEPARENT)) {
      return message;
    }
    var properties = new HashMap<String, String>();
    W3C.inject(context, properties, (all, name, value) -> all.put(name, value));
    var carrying = message;
    for (var each : properties.entrySet()) {
      carrying = carrying.withProperty(each.getKey(), each.getValue());
    }
    return carrying;
  }

  /** Returns the trace context in which the message was sent; the root context if it has none. */
  public static Context read(Message message) {
    return read(message.properties());
  }

  /**
   * Returns the trace context from properties or headers in lower case, as {@link #read(Message)}.
   */
  public static Context read(Map<String, String> properties) {
    return W3C.extract(Context.root(), properties, PROPERTIES);
  }

  static SpanContext spanOf(Message message) {
    return Span.fromContext(read(message)).getSpanContext();
  }
}
