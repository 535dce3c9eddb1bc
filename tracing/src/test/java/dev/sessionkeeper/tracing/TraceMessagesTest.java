package dev.sessionkeeper.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.SessionHooks;
import dev.sessionkeeper.processor.SessionProcessor;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TraceMessagesTest {
  private static final QueueName ORDERS = QueueName.of("orders");
  private static final SessionId SESSION = SessionId.of("customer-42");

  @RegisterExtension
  private static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

  private final TraceMessages traces = TraceMessages.with(TELEMETRY.getOpenTelemetry());
  private final MemoryQueueProvider provider = MemoryQueueProvider.create();

  @BeforeEach
  void declare() {
    provider.declare(ORDERS, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    provider.close();
  }

  private static Message message(String text) {
    return Message.of(SESSION, Payload.text(text));
  }

  private static SpanData span(String name) {
    return spans(name).get(0);
  }

  private static List<SpanData> spans(String name) {
    return TELEMETRY.getSpans().stream().filter(span -> span.getName().equals(name)).toList();
  }

  private static String text(SpanData span, String attribute) {
    return span.getAttributes().get(AttributeKey.stringKey(attribute));
  }

  private SessionProcessor processor(
      TraceProcessing traced, dev.sessionkeeper.processor.MessageHandler handler) {
    return SessionProcessor.builder(provider, ORDERS, traced.handler(handler))
        .hooks(traced.hooks(SessionHooks.NONE))
        .retry(new RetryPolicy(5, Duration.ofMillis(1), 1, Duration.ofMillis(1), 0))
        .sessionIdleTimeout(Duration.ofMillis(50))
        .build()
        .start();
  }

  @Test
  void aMessageIsHandledInTheTraceInWhichItWasSent() {
    var request = TELEMETRY.getOpenTelemetry().getTracer("test").spanBuilder("request").startSpan();
    var message = message("tea");
    try (var scope = request.makeCurrent()) {
      traces.send(ORDERS, List.of(message), carrying -> provider.send(ORDERS, carrying));
    }
    request.end();
    var current = new CopyOnWriteArrayList<String>();
    var traced = traces.processing(ORDERS, Map.of("bot.name", "triage", "ordering.scope", "pr"));
    try (var processor =
        processor(
            traced,
            (delivery, session) -> {
              current.add(Span.current().getSpanContext().getSpanId());
              return Settlement.complete();
            })) {
      await().until(() -> !spans("session_lifecycle").isEmpty());
    }

    var send = span("send orders");
    assertThat(send.getKind()).isEqualTo(SpanKind.PRODUCER);
    assertThat(send.getParentSpanId()).isEqualTo(request.getSpanContext().getSpanId());
    assertThat(text(send, "messaging.destination.name")).isEqualTo("orders");
    assertThat(text(send, "messaging.message.conversation_id")).isEqualTo("customer-42");

    var hold = span("session_lifecycle");
    assertThat(text(hold, "session.id")).isEqualTo("customer-42");
    assertThat(text(hold, "bot.name")).isEqualTo("triage");
    assertThat(text(hold, "ordering.scope")).isEqualTo("pr");

    var handling = span("message_processing");
    assertThat(handling.getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
    assertThat(handling.getParentSpanId()).isEqualTo(send.getSpanId());
    assertThat(handling.getKind()).isEqualTo(SpanKind.CONSUMER);
    assertThat(text(handling, "message.id")).isEqualTo(message.id().value());
    assertThat(text(handling, "message.settlement")).isEqualTo("complete");
    assertThat(text(handling, "messaging.message.conversation_id")).isEqualTo("customer-42");
    assertThat(handling.getLinks())
        .extracting(link -> link.getSpanContext().getSpanId())
        .containsExactly(hold.getSpanId());
    assertThat(current).containsExactly(handling.getSpanId());
  }

  @Test
  void everyAttemptHasASpanAndAFailureSaysSo() {
    traces.send(ORDERS, List.of(message("tea")), carrying -> provider.send(ORDERS, carrying));
    var traced = traces.processing(ORDERS, Map.of());
    try (var processor =
        processor(
            traced,
            (delivery, session) -> {
              if (delivery.attempt() == 1) {
                throw new IllegalStateException("out of tea");
              }
              return Settlement.complete();
            })) {
      await().until(() -> spans("message_processing").size() == 2);
    }
    var attempts = spans("message_processing");
    assertThat(attempts)
        .extracting(span -> span.getAttributes().get(Names.DELIVERY_COUNT))
        .containsExactly(1L, 2L);
    assertThat(attempts.get(0).getStatus())
        .isEqualTo(StatusData.create(io.opentelemetry.api.trace.StatusCode.ERROR, "out of tea"));
    assertThat(text(attempts.get(0), "error.type")).isEqualTo("java.lang.IllegalStateException");
    assertThat(attempts.get(1).getStatus()).isEqualTo(StatusData.unset());
  }

  @Test
  void aMessageThatNamesItsTraceKeepsItAndTheSendIsLinkedToIt() {
    var own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    var sent =
        traces.send(
            ORDERS,
            List.of(message("tea").withProperty("traceparent", own), message("cup")),
            carrying -> carrying);
    assertThat(sent.get(0).properties()).containsEntry("traceparent", own);
    assertThat(sent.get(1).properties().get("traceparent"))
        .contains(span("send orders").getSpanId());
    assertThat(span("send orders").getLinks())
        .extracting(LinkData::getSpanContext)
        .extracting(context -> context.getSpanId())
        .containsExactly("b7ad6b7169203331");
  }

  @Test
  void aFailedSendIsAFailedSpan() {
    assertThatThrownBy(
            () ->
                traces.send(
                    ORDERS,
                    List.of(message("tea")),
                    carrying -> {
                      throw new KeeperException.Unavailable("The store");
                    }))
        .isInstanceOf(KeeperException.Unavailable.class);
    assertThat(text(span("send orders"), "error.type")).endsWith("Unavailable");
  }

  @Test
  void withoutTelemetryTheCallersContextStillTravels() {
    var caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    try (var scope = MessageContext.read(Map.of("traceparent", caller)).makeCurrent()) {
      var sent = TraceMessages.none().send(ORDERS, List.of(message("tea")), all -> all);
      assertThat(sent.get(0).properties()).containsEntry("traceparent", caller);
    }
    var alone = TraceMessages.none().send(ORDERS, List.of(message("tea")), all -> all);
    assertThat(alone.get(0).properties()).isEmpty();
  }
}
