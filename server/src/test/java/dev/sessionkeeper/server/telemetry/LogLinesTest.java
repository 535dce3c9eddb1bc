package dev.sessionkeeper.server.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The fields of a log line. */
class LogLinesTest {
  private static JsonNode written(LoggingEvent event) {
    var lines = new JsonLines();
    lines.start();
    var text = new String(lines.encode(event), StandardCharsets.UTF_8);
    assertThat(text).endsWith("\n").hasLineCount(1);
    return JsonMapper.builder().build().readTree(text);
  }

  private static LoggingEvent event(Throwable failure) {
    var context = new LoggerContext();
    var event =
        new LoggingEvent(
            "x",
            context.getLogger("dev.sessionkeeper.Some"),
            Level.WARN,
            "{} waits\n\"here\"",
            failure,
            new Object[] {"customer-42"});
    event.setInstant(Instant.parse("2026-11-19T20:15:30.123456789Z"));
    event.setMDCPropertyMap(Map.of("correlationId", "a5ad1c38"));
    return event;
  }

  @Test
  void aLineHasATimeThatPeopleReadAndTheIdOfItsRequest() {
    var line = written(event(null));
    assertThat(line.get("time").asString()).isEqualTo("2026-11-19T20:15:30.123Z");
    assertThat(line.get("level").asString()).isEqualTo("WARN");
    assertThat(line.get("logger").asString()).isEqualTo("dev.sessionkeeper.Some");
    assertThat(line.get("message").asString()).isEqualTo("customer-42 waits\n\"here\"");
    assertThat(line.get("correlationId").asString()).isEqualTo("a5ad1c38");
    assertThat(line.has("error")).isFalse();
  }

  @Test
  void aFailureIsInItsLineWithItsCause() {
    var failure = new IllegalStateException("outer", new IllegalArgumentException("inner"));
    assertThat(written(event(failure)).get("error").asString())
        .startsWith("java.lang.IllegalStateException: outer")
        .contains("Caused by: java.lang.IllegalArgumentException: inner")
        .contains("LogLinesTest");
  }
}
