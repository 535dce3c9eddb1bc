package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.tracing.MessageContext;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.IdGenerator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The position of an event in a trace. OpenTelemetry reads and writes the header, and makes the
 * ids; events are traced even if the server exports no spans.
 *
 * @param traceId 32 hexadecimal digits: the same from intake to handler
 * @param spanId 16 hexadecimal digits: another for every step
 */
record TraceContext(String traceId, String spanId, boolean sampled) {
  /** The name of the header and of the message property. */
  static final String NAME = MessageContext.TRACEPARENT;

  private static final IdGenerator IDS = IdGenerator.random();

  /**
   * Returns a context that continues the caller's trace, or starts a new one if the header names
   * none.
   */
  static TraceContext continuing(String header) {
    return parse(header)
        .map(TraceContext::next)
        .orElseGet(() -> new TraceContext(IDS.generateTraceId(), IDS.generateSpanId(), true));
  }

  /**
   * Returns the context of the current span if it is recorded, otherwise as {@link #continuing}.
   */
  static TraceContext ofRequest(String header) {
    var span = Span.current().getSpanContext();
    // Without an exporter, the current span is the caller's own.
    return span.isValid() && !span.isRemote() ? of(span) : continuing(header);
  }

  static Optional<TraceContext> parse(String header) {
    var span = Span.fromContext(MessageContext.read(Map.of(NAME, header))).getSpanContext();
    return span.isValid() ? Optional.of(of(span)) : Optional.empty();
  }

  TraceContext next() {
    return new TraceContext(traceId, IDS.generateSpanId(), sampled);
  }

  @Override
  public String toString() {
    var flags = sampled ? TraceFlags.getSampled() : TraceFlags.getDefault();
    var span = SpanContext.create(traceId, spanId, flags, TraceState.getDefault());
    var headers = new HashMap<String, String>();
    W3CTraceContextPropagator.getInstance()
        .inject(Context.root().with(Span.wrap(span)), headers, Map::put);
    return headers.getOrDefault(NAME, "");
  }

  private static TraceContext of(SpanContext span) {
    return new TraceContext(span.getTraceId(), span.getSpanId(), span.isSampled());
  }
}
