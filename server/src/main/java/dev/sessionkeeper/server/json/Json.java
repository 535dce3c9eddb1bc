package dev.sessionkeeper.server.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
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

  private static final int TIME_LENGTH = "2000-01-01T00:00:00.000000Z".length();
  private static final Instant YEAR_0 = Instant.parse("0000-01-01T00:00:00Z");
  private static final Instant YEAR_10000 = Instant.parse("+10000-01-01T00:00:00Z");

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

  private static final int[] POWERS_OF_TEN = {1, 10, 100, 1_000, 10_000, 100_000};

  private Json() {}

  /** Writes a record, map or list as UTF-8. */
  public static byte[] write(Object view) {
    return MAPPER.writeValueAsBytes(view);
  }

  /**
   * Writes a record, map or list as UTF-8, in pieces. An array of a megabyte would go past the
   * young generation of the heap, and a few of them start a collection of all of it.
   */
  public static List<byte[]> writeInPieces(Object view) {
    var pieces = new Pieces();
    MAPPER.writeValue(pieces, view);
    return pieces.all();
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
    if (time.isBefore(YEAR_0) || !time.isBefore(YEAR_10000)) {
      return MICROS.format(time.truncatedTo(ChronoUnit.MICROS));
    }
    // By hand: each message of an answer has a time, and the formatter costs as much as its body.
    var at = LocalDateTime.ofEpochSecond(time.getEpochSecond(), time.getNano(), ZoneOffset.UTC);
    var text = new StringBuilder(TIME_LENGTH);
    digits(text, at.getYear(), 4).append('-');
    digits(text, at.getMonthValue(), 2).append('-');
    digits(text, at.getDayOfMonth(), 2).append('T');
    digits(text, at.getHour(), 2).append(':');
    digits(text, at.getMinute(), 2).append(':');
    digits(text, at.getSecond(), 2).append('.');
    return digits(text, at.getNano() / 1_000, 6).append('Z').toString();
  }

  private static StringBuilder digits(StringBuilder text, int number, int least) {
    for (int bound = POWERS_OF_TEN[least - 1]; bound > 1 && number < bound; bound /= 10) {
      text.append('0');
    }
    return text.append(number);
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
