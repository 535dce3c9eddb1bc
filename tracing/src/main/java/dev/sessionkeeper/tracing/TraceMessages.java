package dev.sessionkeeper.tracing;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Creates the spans of one application. Safe for many threads.
 *
 * {@snippet :
 * var traces = TraceMessages.with(openTelemetry);
 * traces.send(orders, messages, carrying -> provider.send(orders, carrying));
 *
 * var traced = traces.processing(orders, Map.of("bot.name", "triage"));
 * SessionProcessor.builder(provider, orders, traced.handler(this::apply))
 *     .hooks(traced.hooks(SessionHooks.NONE))
 *     .build();
 * }
 */
public final class TraceMessages {
  private final Tracer tracer;

  private TraceMessages(Tracer tracer) {
    this.tracer = tracer;
  }

  public static TraceMessages with(OpenTelemetry telemetry) {
    return new TraceMessages(telemetry.getTracer(Names.SCOPE));
  }

  /** Returns an instance without spans; the caller's context still travels with its messages. */
  public static TraceMessages none() {
    return with(OpenTelemetry.noop());
  }

  public Tracer tracer() {
    return tracer;
  }

  /**
   * Sends messages under a span {@code send <queue>}; they carry its context to their handler. A
   * message with a trace context of its own keeps that context, and the span is linked to it.
   */
  public <T> T send(QueueName queue, List<Message> messages, Function<List<Message>, T> send) {
    var builder = builder("send", queue, SpanKind.PRODUCER);
    messages.forEach(message -> builder.addLink(MessageContext.spanOf(message)));
    builder.setAttribute(Names.BATCH, (long) messages.size());
    if (messages.size() == 1) {
      describe(builder, messages.get(0));
    }
    var span = builder.startSpan();
    var context = Context.current().with(span);
    return call(
        span,
        context,
        () ->
            send.apply(
                messages.stream().map(message -> MessageContext.write(context, message)).toList()));
  }

  /**
   * Receives under a span {@code receive <queue>} that is linked to the sends.
   *
   * @return the received messages; empty if the call ended without a result
   */
  public <T> List<T> receive(
      QueueName queue,
      Optional<SessionId> session,
      Callable<Optional<List<T>>> receive,
      Function<T, Message> messageOf)
      throws Exception {
    var builder = builder("receive", queue, SpanKind.CLIENT);
    session.ifPresent(id -> builder.setAttribute(Names.CONVERSATION, id.value()));
    var span = builder.startSpan();
    try (var scope = span.makeCurrent()) {
      var received = receive.call().orElse(List.of());
      span.setAttribute(Names.BATCH, (long) received.size());
      received.forEach(each -> span.addLink(MessageContext.spanOf(messageOf.apply(each))));
      return received;
    } catch (Exception e) {
      failed(span, e);
      throw e;
    } finally {
      span.end();
    }
  }

  /** Settles deliveries under a span {@code settle <queue>}. */
  public void settle(QueueName queue, SessionId session, int count, Runnable settle) {
    var span =
        builder("settle", queue, SpanKind.CLIENT)
            .setAttribute(Names.CONVERSATION, session.value())
            .setAttribute(Names.BATCH, (long) count)
            .startSpan();
    call(
        span,
        Context.current().with(span),
        () -> {
          settle.run();
          return true;
        });
  }

  /** Returns the spans of a processor of this queue. */
  public TraceProcessing processing(QueueName queue, Map<String, String> attributes) {
    return new TraceProcessing(tracer, queue, attributes);
  }

  private SpanBuilder builder(String operation, QueueName queue, SpanKind kind) {
    return tracer
        .spanBuilder(operation + " " + queue.value())
        .setSpanKind(kind)
        .setAttribute(Names.SYSTEM, Names.SYSTEM_NAME)
        .setAttribute(Names.OPERATION, operation)
        .setAttribute(Names.OPERATION_TYPE, operation)
        .setAttribute(Names.DESTINATION, queue.value());
  }

  static void describe(SpanBuilder builder, Message message) {
    builder.setAttribute(Names.MESSAGE, message.id().value());
    builder.setAttribute(Names.BODY_SIZE, (long) message.payload().size());
    message.session().ifPresent(id -> builder.setAttribute(Names.CONVERSATION, id.value()));
  }

  private static <T> T call(Span span, Context context, Supplier<T> work) {
    try (var scope = context.makeCurrent()) {
      return work.get();
    } catch (RuntimeException e) {
      failed(span, e);
      throw e;
    } finally {
      span.end();
    }
  }

  static void failed(Span span, Throwable failure) {
    span.setAttribute(Names.ERROR, failure.getClass().getName());
    span.setStatus(StatusCode.ERROR, String.valueOf(failure.getMessage()));
  }
}
