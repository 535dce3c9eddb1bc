package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  @RegisterExtension
  private static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

  @Test
  void aTraceGoesOnUnderANewSpan() {
    var next = TraceContext.continuing("00-" + TRACE + "-00f067aa0ba902b7-00");
    assertThat(next.traceId()).isEqualTo(TRACE);
    assertThat(next.spanId()).hasSize(16).isNotEqualTo("00f067aa0ba902b7");
    assertThat(next.toString()).endsWith("-00");
    assertThat(TraceContext.parse(next.toString())).contains(next);
  }

  @Test
  void aRequestThatIsTracedIsWhereItsEventBegins() {
    var span = TELEMETRY.getOpenTelemetry().getTracer("test").spanBuilder("request").startSpan();
    try (var scope = span.makeCurrent()) {
      var trace = TraceContext.ofRequest("00-" + TRACE + "-00f067aa0ba902b7-01");
      assertThat(trace.traceId()).isEqualTo(span.getSpanContext().getTraceId());
      assertThat(trace.spanId()).isEqualTo(span.getSpanContext().getSpanId());
    } finally {
      span.end();
    }
    assertThat(TraceContext.ofRequest("00-" + TRACE + "-00f067aa0ba902b7-01").traceId())
        .isEqualTo(TRACE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"
      })
  void whatIsNoTraceBeginsANewOne(String header) {
    assertThat(TraceContext.continuing(header).traceId())
        .matches("[0-9a-f]{32}")
        .isNotEqualTo(TRACE);
  }
}
