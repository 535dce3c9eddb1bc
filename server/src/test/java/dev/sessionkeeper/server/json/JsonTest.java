package dev.sessionkeeper.server.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonTest {
  @ParameterizedTest
  @CsvSource({
    "2026-11-18T20:59:04.123456Z, 2026-11-18T20:59:04.123456Z",
    "2026-01-02T03:04:05Z, 2026-01-02T03:04:05.000000Z",
    "2026-10-12T13:14:15.000099999Z, 2026-10-12T13:14:15.000099Z",
    "0007-01-01T00:00:00.000001Z, 0007-01-01T00:00:00.000001Z",
    "1969-12-31T23:59:59.999999Z, 1969-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59.999999999Z, 9999-12-31T23:59:59.999999Z",
    "+10000-01-01T00:00:00Z, +10000-01-01T00:00:00.000000Z",
    "-0001-06-01T00:00:00Z, -0001-06-01T00:00:00.000000Z"
  })
  void timesHaveSixDigits(Instant time, String text) {
    assertThat(Json.time(time)).isEqualTo(text);
  }

  @Test
  void bytesThatAreNotUtf8AreNoDocument() {
    assertThat(RawJson.of("\"caf\u00e9\"".getBytes(StandardCharsets.UTF_8))).isPresent();
    assertThat(RawJson.of("\"caf\u00e9\"".getBytes(StandardCharsets.ISO_8859_1))).isEmpty();
    assertThat(RawJson.of("\"cafe\"".getBytes(StandardCharsets.ISO_8859_1))).isPresent();
  }
}
