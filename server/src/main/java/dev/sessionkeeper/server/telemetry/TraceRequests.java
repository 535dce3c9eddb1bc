package dev.sessionkeeper.server.telemetry;

import dev.sessionkeeper.server.http.RequestListener;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.tracing.MessageContext;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.function.UnaryOperator;
import org.slf4j.MDC;

/** Creates a span for every handled request, in the caller's trace if the request names one. */
public final class TraceRequests implements RequestListener {
  private static final List<String> HEADERS = List.of("traceparent", "tracestate");
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  private final Tracer tracer;
  private final RequestListener next;

  /**
   * Creates the listener.
   *
   * @param next also receives all events
   */
  public TraceRequests(Tracer tracer, RequestListener next) {
    this.tracer = tracer;
    this.next = next;
  }

  @Override
  public void answered(String route, int status, Duration took) {
    next.answered(route, status, took);
  }

  @Override
  public void refused(Actor actor, String route, int status) {
    next.refused(actor, route, status);
  }

  @Override
  @SuppressWarnings("MustBeClosedChecker") // ended() closes it, on the same thread.
  public Handling handling(String route, UnaryOperator<String> header) {
    var carrier = new HashMap<String, String>();
    for (var name : HEADERS) {
      if (!header.apply(name).isEmpty()) {
        carrier.put(name, header.apply(name));
      }
    }
    int blank = route.indexOf(' ');
    var span =
        tracer
            .spanBuilder(route)
            .setParent(MessageContext.read(carrier))
            .setSpanKind(SpanKind.SERVER)
            .setAttribute(METHOD, route.substring(0, Math.max(0, blank)))
            .setAttribute(ROUTE, route.substring(blank + 1))
            .startSpan();
    if (span.getSpanContext().isValid()) {
      MDC.put("traceId", span.getSpanContext().getTraceId());
    }
    return new Traced(span, span.makeCurrent());
  }

  private record Traced(Span span, Scope scope) implements Handling {
    @Override
    public void ended(int status) {
      scope.close();
      span.setAttribute(STATUS, (long) status);
      if (status >= 500) {
        span.setAttribute(ERROR, String.valueOf(status));
        span.setStatus(StatusCode.ERROR);
      }
      span.end();
    }
  }
}
