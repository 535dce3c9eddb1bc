package dev.sessionkeeper.tracing;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.CloseReason;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionHooks;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The spans of one processor: {@code session_lifecycle} for every hold, {@code message_processing}
 * for every call of the handler.
 *
 * <p>The span of a message belongs to the trace of its send, and is linked to its hold, because a
 * hold serves messages of many traces. Safe for many threads.
 */
public final class TraceProcessing {
  private final Tracer tracer;
  private final QueueName queue;
  private final Map<String, String> attributes;
  private final Map<Hold, Span> holds = new ConcurrentHashMap<>();

  private record Hold(SessionId session, long epoch) {
    static Hold of(SessionContext session) {
      return new Hold(session.id(), session.epoch());
    }
  }

  TraceProcessing(Tracer tracer, QueueName queue, Map<String, String> attributes) {
    this.tracer = tracer;
    this.queue = queue;
    this.attributes = Map.copyOf(attributes);
  }

  /** Returns a handler that runs each call under a current span. */
  public MessageHandler handler(MessageHandler handler) {
    return (delivery, session) -> {
      var span = begin(delivery, session);
      try (var scope = span.makeCurrent()) {
        var settlement = handler.handle(delivery, session);
        span.setAttribute(Names.SETTLEMENT, word(settlement));
        return settlement;
      } catch (Exception e) {
        TraceMessages.failed(span, e);
        throw e;
      } finally {
        span.end();
      }
    };
  }

  private Span begin(Delivery delivery, SessionContext session) {
    var builder =
        tracer
            .spanBuilder("message_processing")
            .setParent(MessageContext.read(delivery.message()))
            .setSpanKind(SpanKind.CONSUMER)
            .setAttribute(Names.SYSTEM, Names.SYSTEM_NAME)
            .setAttribute(Names.OPERATION, "process")
            .setAttribute(Names.OPERATION_TYPE, "process")
            .setAttribute(Names.DESTINATION, queue.value())
            .setAttribute(Names.MESSAGE_ID, delivery.id().value())
            .setAttribute(Names.DELIVERY_COUNT, (long) delivery.attempt());
    TraceMessages.describe(builder, delivery.message());
    var hold = holds.get(Hold.of(session));
    if (hold != null) {
      builder.addLink(hold.getSpanContext());
    }
    attributes.forEach(builder::setAttribute);
    return builder.startSpan();
  }

  private static String word(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Complete complete -> "complete";
      case Settlement.Retry retry -> "retry";
      case Settlement.DeadLetter letter -> "dead_letter";
      case Settlement.Park park -> "park";
    };
  }

  /** Returns hooks that also trace each hold from its opening to its close. */
  public SessionHooks hooks(SessionHooks hooks) {
    return new SessionHooks() {
      @Override
      public void onSessionOpened(SessionContext session) throws Exception {
        var builder =
            tracer
                .spanBuilder("session_lifecycle")
                .setNoParent()
                .setAttribute(Names.SYSTEM, Names.SYSTEM_NAME)
                .setAttribute(Names.DESTINATION, queue.value())
                .setAttribute(Names.SESSION_ID, session.id().value())
                .setAttribute(Names.CONVERSATION, session.id().value())
                .setAttribute(Names.SESSION_EPOCH, session.epoch());
        attributes.forEach(builder::setAttribute);
        holds.put(Hold.of(session), builder.startSpan());
        hooks.onSessionOpened(session);
      }

      @Override
      public void onSessionClosed(SessionContext session, CloseReason reason) throws Exception {
        try {
          hooks.onSessionClosed(session, reason);
        } finally {
          var span = holds.remove(Hold.of(session));
          if (span != null) {
            span.setAttribute(Names.CLOSE_REASON, reason.name());
            span.end();
          }
        }
      }

      @Override
      public void onError(Throwable error, ErrorContext context) {
        hooks.onError(error, context);
      }
    };
  }
}
