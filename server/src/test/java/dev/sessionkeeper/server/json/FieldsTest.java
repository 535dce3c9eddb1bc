package dev.sessionkeeper.server.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldsTest {
  private static String slice(String document) {
    return Fields.read(
        document.getBytes(StandardCharsets.UTF_8),
        in -> {
          var value = in.required("v", Decode.any());
          in.optional("w", Decode.any());
          in.check();
          return new String(value.get().span().bytes(), StandardCharsets.UTF_8);
        });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "true",
        "false",
        "0",
        "-1.50",
        "1e400",
        "12345678901234567890123",
        "\"\"",
        "\"é\\u0000\\ud800 \\\"\"",
        "[]",
        "[1, 2.50 ,{}]",
        "{}",
        "{ \"a\" : [ {\"b\":1} ] }",
        "\"漢字 😀\""
      })
  void aValueIsKeptAsItWasSent(String value) {
    assertThat(slice("{\"v\":" + value + "}")).isEqualTo(value);
    assertThat(
            slice(" { \"w\" : \"é\" , \"v\" :  " + value + " , \"x\":1}".replace(", \"x\":1", "")))
        .isEqualTo(value);
  }

  @Test
  void aRandomValueIsKeptAsItWasSent() {
    var random = new Random(7);
    for (int i = 0; i < 2000; i++) {
      var value = value(random, 4);
      assertThat(slice("{\"w\":" + value(random, 2) + ", \"v\": " + value + "\n}"))
          .isEqualTo(value);
    }
  }

  private static String value(Random random, int depth) {
    return switch (random.nextInt(depth == 0 ? 4 : 6)) {
      case 0 -> String.valueOf(random.nextLong());
      case 1 -> random.nextInt(1000) + "." + random.nextInt(1000) + "E" + random.nextInt(400);
      case 2 -> "\"é😀\\n" + "x".repeat(random.nextInt(9000)) + "\"";
      case 3 -> random.nextBoolean() ? "null" : "true";
      case 4 -> "[" + value(random, depth - 1) + " , " + value(random, depth - 1) + "]";
      default -> "{\"k\":" + value(random, depth - 1) + "}";
    };
  }

  @Test
  void invalidUtf8IsRefused() {
    assertThatThrownBy(
            () -> Fields.read(new byte[] {'{', '"', (byte) 0xc3, 0x28, '"', '}'}, in -> in))
        .isInstanceOf(InvalidInput.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-PT5S",
        "PT",
        "5",
        "",
        "P1Y",
        "PT999999999999999H",
        "P-1D",
        "soon",
        "PT1S\0",
        "1 s"
      })
  void aBadDurationIsRefused(String text) {
    assertThatThrownBy(() -> duration(text)).isInstanceOf(InvalidInput.class);
  }

  @Test
  void durationsAreReadAsPeopleWriteThem() {
    assertThat(duration("250ms")).isEqualTo(Duration.ofMillis(250));
    assertThat(duration("30d")).isEqualTo(Duration.ofDays(30));
    assertThat(duration("PT0.3S")).isEqualTo(Duration.ofMillis(300));
    assertThat(duration("P1DT2H")).isEqualTo(Duration.ofHours(26));
  }

  private static Duration duration(String text) {
    return Decode.duration(Duration.ZERO, Duration.ofDays(36_500))
        .decode(new JsonValue.Text(text, JsonValue.Span.NOWHERE));
  }
}
