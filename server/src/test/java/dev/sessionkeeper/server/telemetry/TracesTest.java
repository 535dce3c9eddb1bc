package dev.sessionkeeper.server.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.server.TestServer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TracesTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String CALLER = "00-" + TRACE + "-b7ad6b7169203331-01";
  private static final String MESSAGE =
      "{\"messages\":[{\"messageId\":\"m1\",\"sessionId\":\"s\",\"body\":1}]}";

  @RegisterExtension
  private static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

  /** Waits for a span, which ends a moment after its answer has arrived. */
  private static SpanData span(String name) {
    await()
        .until(() -> TELEMETRY.getSpans().stream().anyMatch(span -> span.getName().equals(name)));
    return TELEMETRY.getSpans().stream()
        .filter(span -> span.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static String text(SpanData span, String attribute) {
    return span.getAttributes().get(AttributeKey.stringKey(attribute));
  }

  @Test
  void aRequestASendAReceiveAndASettlementAreSpansOfTheirTraces() {
    try (var server = TestServer.tracing(TELEMETRY.getOpenTelemetry())) {
      server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
      server.send("POST", "/queues/q/messages", Optional.of(MESSAGE), "traceparent", CALLER);
      var lease = server.post("/queues/q/leases", "{}").json().get("leaseId").asString();
      var messages = server.get("/queues/q/leases/" + lease + "/messages").json().get("messages");
      server.post(
          "/queues/q/leases/" + lease + "/settlements",
          "{\"settlements\":[{\"sequence\":%d,\"action\":\"complete\"}]}"
              .formatted(messages.get(0).get("sequence").asLong()));

      var request = span("POST /queues/{queue}/messages");
      assertThat(request.getKind()).isEqualTo(SpanKind.SERVER);
      assertThat(request.getTraceId()).isEqualTo(TRACE);
      assertThat(request.getParentSpanId()).isEqualTo("b7ad6b7169203331");
      assertThat(text(request, "http.route")).isEqualTo("/queues/{queue}/messages");
      assertThat(request.getAttributes().get(AttributeKey.longKey("http.response.status_code")))
          .isEqualTo(201);

      var send = span("send q");
      assertThat(send.getParentSpanId()).isEqualTo(request.getSpanId());
      assertThat(text(send, "messaging.message.conversation_id")).isEqualTo("s");
      assertThat(messages.get(0).get("properties").get("traceparent").asString())
          .isEqualTo("00-" + TRACE + "-" + send.getSpanId() + "-01");

      var receive = span("receive q");
      assertThat(receive.getLinks())
          .extracting(link -> link.getSpanContext().getSpanId())
          .containsExactly(send.getSpanId());
      assertThat(receive.getParentSpanId())
          .isEqualTo(span("GET /queues/{queue}/leases/{leaseId}/messages").getSpanId());
      assertThat(text(span("settle q"), "messaging.message.conversation_id")).isEqualTo("s");
    }
  }

  @Test
  void aRefusalIsNoErrorOfTheServer() {
    try (var server = TestServer.tracing(TELEMETRY.getOpenTelemetry())) {
      server.get("/queues/none");
      var span = span("GET /queues/{queue}");
      assertThat(span.getStatus()).isEqualTo(StatusData.unset());
      assertThat(span.getAttributes().get(AttributeKey.longKey("http.response.status_code")))
          .isEqualTo(404);
    }
  }

  @Test
  void withoutTelemetryTheCallersTraceTravelsAsItCame() {
    try (var server = TestServer.start("")) {
      server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
      server.send("POST", "/queues/q/messages", Optional.of(MESSAGE), "traceparent", CALLER);
      var lease = server.post("/queues/q/leases", "{}").json().get("leaseId").asString();
      var messages = server.get("/queues/q/leases/" + lease + "/messages").json().get("messages");
      assertThat(messages.get(0).get("properties").get("traceparent").asString()).isEqualTo(CALLER);
    }
  }

  @Test
  void spansArriveAtTheConfiguredCollector() throws IOException {
    var received = new AtomicReference<>("");
    var collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          var bytes = exchange.getRequestBody().readAllBytes();
          received.accumulateAndGet(new String(bytes, StandardCharsets.ISO_8859_1), String::concat);
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    var endpoint = "http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/traces";
    try {
      var config = new TelemetryConfig(Optional.of(java.net.URI.create(endpoint)), "keeper-1", 100);
      try (var telemetry = Telemetry.open(config, "0.0")) {
        telemetry.traces().tracer().spanBuilder("hello collector").startSpan().end();
      }
      // Closing has exported the remaining spans.
      assertThat(received.get()).contains("hello collector", "keeper-1");
    } finally {
      collector.stop(0);
    }
  }
}
