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
  /** The property, and the header, that names the place in the trace. */
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

  /** The message with this place in a trace, unless it names one itself or there is none. */
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

  /** Where in a trace the message was sent; the root when it does not tell. */
  public static Context read(Message message) {
    return read(message.properties());
  }

  /** As {@link #read(Message)}, from any properties or headers in lower case. */
  public static Context read(Map<String, String> properties) {
    return W3C.extract(Context.root(), properties, PROPERTIES);
  }

  static SpanContext spanOf(Message message) {
    return Span.fromContext(read(message)).getSpanContext();
  }
}
