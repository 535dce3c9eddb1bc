package dev.sessionkeeper.server.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        " [ ] ",
        "0",
        "-0",
        "-0.5e+10",
        "1E3",
        "12",
        "\"\"",
        "\"\\u00e9\\n\"",
        "true",
        "null",
        "{\"a\":[1,{\"b\":\"\"}],\"c\":false}\n",
        "[1,2,\"x\"]",
        "\"\\ud800\""
      })
  void documentsAreRecognised(String text) {
    assertThat(RawJson.of(text.getBytes(StandardCharsets.UTF_8))).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"a\nb\"",
        "tru",
        "truex",
        "nul",
        "1 2",
        "{} x",
        "[1 2]",
        "'a'",
        "NaN",
        "1a",
        "/**/1",
        "\"\\",
        "\"\\u1"
      })
  void otherTextIsNoDocument(String text) {
    assertThat(RawJson.of(text.getBytes(StandardCharsets.UTF_8))).isEmpty();
  }

  @Test
  void aDocumentHasABoundedDepth() {
    int most = ReadJson.MAX_DEPTH;
    assertThat(RawJson.of(nested(most))).isPresent();
    assertThat(RawJson.of(nested(most + 1))).isEmpty();
  }

  private static byte[] nested(int depth) {
    return ("[".repeat(depth) + "]".repeat(depth)).getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1_000, 1_023, 1_024, 65_534, 65_536, 300_000})
  void piecesAreTheWholeDocumentAndNoneIsLarge(int length) {
    var view = Map.of("text", "é".repeat(length / 2) + "x".repeat(length % 2));
    var pieces = Json.writeInPieces(view);
    var whole = new ByteArrayOutputStream();
    pieces.forEach(whole::writeBytes);
    assertThat(whole.toByteArray()).isEqualTo(Json.write(view));
    assertThat(pieces).allSatisfy(piece -> assertThat(piece).hasSizeBetween(1, 64 << 10));
  }

  /** The check by hand must agree with the parser, which reads the payloads that callers send. */
  @Test
  void theCheckAgreesWithTheParser() {
    var random = new Random(7);
    var original =
        "{\"a\":[1,-2.5e3,{\"b\":\"\\u00e9\\\"x\"},null,true],\"c\":false,\"d\":[],\"e\":{}} "
            .getBytes(StandardCharsets.UTF_8);
    var letters = "{}[]\",:\\0123eE.+-truefalsn \n\u0001u".getBytes(StandardCharsets.UTF_8);
    int accepted = 0;
    for (int i = 0; i < 50_000; i++) {
      var changed = Arrays.copyOf(original, original.length - random.nextInt(3));
      for (int changes = random.nextInt(3); changes > 0; changes--) {
        changed[random.nextInt(changed.length)] = letters[random.nextInt(letters.length)];
      }
      boolean isValid = isValidForParser(changed);
      accepted += isValid ? 1 : 0;
      assertThat(RawJson.of(changed).isPresent())
          .as(new String(changed, StandardCharsets.UTF_8))
          .isEqualTo(isValid);
    }
    assertThat(accepted).isBetween(1_000, 49_000);
  }

  private static boolean isValidForParser(byte[] document) {
    try (var parser = new JsonFactory().createParser(ObjectReadContext.empty(), document)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      parser.finishToken();
      return parser.nextToken() == null;
    } catch (JacksonException e) {
      return false;
    }
  }
}
