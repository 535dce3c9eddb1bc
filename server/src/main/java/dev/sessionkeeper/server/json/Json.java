package dev.sessionkeeper.server.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * Writes records as JSON: absent Optionals are left out, times have six decimal places, durations
 * are ISO 8601.
 */
public final class Json {
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .changeDefaultPropertyInclusion(
              inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_ABSENT))
          .addModule(
              new SimpleModule()
                  .addSerializer(new InstantWithMicros())
                  .addSerializer(new IsoDuration())
                  .addSerializer(new AsItWas()))
          .build();

  private Json() {}

  /** Writes a record, map or list as UTF-8. */
  public static byte[] write(Object view) {
    return MAPPER.writeValueAsBytes(view);
  }

  /** Parses an answer of this server's own API. */
  public static JsonValue readAnswer(byte[] answer) {
    return ReadJson.parseAnswer(answer);
  }

  /** Parses a document that a caller sent, such as the payload of a message. */
  public static JsonValue readDocument(byte[] document) {
    return ReadJson.parse(document);
  }

  /** Formats a time as the API does. */
  public static String time(Instant time) {
    return MICROS.format(time.truncatedTo(ChronoUnit.MICROS));
  }

  private static final class InstantWithMicros extends StdSerializer<Instant> {
    InstantWithMicros() {
      super(Instant.class);
    }

    @Override
    public void serialize(Instant value, JsonGenerator out, SerializationContext context) {
      out.writeString(time(value));
    }
  }

  private static final class IsoDuration extends StdSerializer<Duration> {
    IsoDuration() {
      super(Duration.class);
    }

    @Override
    public void serialize(Duration value, JsonGenerator out, SerializationContext context) {
      out.writeString(value.truncatedTo(ChronoUnit.MICROS).toString());
    }
  }

  private static final class AsItWas extends StdSerializer<RawJson> {
    AsItWas() {
      super(RawJson.class);
    }

    @Override
    public void serialize(RawJson value, JsonGenerator out, SerializationContext context) {
      out.writeRawValue(value.text());
    }
  }
}
