package dev.sessionkeeper.server.telemetry;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes each event of the log as one line of JSON: {@code time}, {@code level}, {@code logger},
 * {@code thread}, {@code message}, the ids of the request, and {@code error} with its stack trace.
 */
public final class JsonLines extends EncoderBase<ILoggingEvent> {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final byte[] NOTHING = new byte[0];

  private final ThrowableProxyConverter traces = new ThrowableProxyConverter();

  @Override
  public void start() {
    traces.start();
    super.start();
  }

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    return (JSON.writeValueAsString(line(event)) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private ObjectNode line(ILoggingEvent event) {
    var line = JSON.createObjectNode();
    line.put("time", event.getInstant().truncatedTo(ChronoUnit.MILLIS).toString());
    line.put("level", event.getLevel().toString());
    line.put("logger", event.getLoggerName());
    line.put("thread", event.getThreadName());
    line.put("message", event.getFormattedMessage());
    event.getMDCPropertyMap().forEach(line::put);
    if (event.getThrowableProxy() != null) {
      line.put("error", traces.convert(event).strip());
    }
    return line;
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }
}
