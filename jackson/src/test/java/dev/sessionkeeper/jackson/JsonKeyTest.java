package dev.sessionkeeper.jackson;

import static dev.sessionkeeper.SessionKeyExtractor.allOf;
import static dev.sessionkeeper.SessionKeyExtractor.property;
import static dev.sessionkeeper.jackson.JsonKey.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonKeyTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a            | {\"a\":\"x\"}                                | x",
        "a            | {\"a\":12}                                   | 12",
        "a            | {\"a\":-0.5e+3}                              | -0.5e+3",
        "a            | {\"a\":true}                                 | true",
        "a            | {\"a\":false , \"b\":[]}                     | false",
        "a.b.c        | {\"x\":{\"c\":1},\"a\":{\"b\":{\"c\":7}}}    | 7",
        "a.1.b        | {\"a\":[{\"b\":1},{\"b\":2}]}                | 2",
        "1            | [5,6]                                        | 6",
        "a\\.b        | {\"a.b\":\"dot\"}                            | dot",
        "a            | {\"a\":\"ä€\"}                               | ä€",
        "a            | {\"\\u0061\":\"escaped name\"}               | escaped name",
        "a            | {\"a\":1,\"a\":2}                            | 2",
      })
  void findsTheScalarAtThePath(String path, String document, String expected) {
    assertThat(JsonKey.find(JsonKey.stepsOf(path), document)).contains(expected);
  }

  @Test
  void escapesMeanWhatTheyMean() {
    var document = "{\"a\":\"\\u00e4\\uD83D\\ude00\\n\\t\\b\\f\\r\\\"\\\\\\/\"}";

    assertThat(JsonKey.find(JsonKey.stepsOf("a"), document)).contains("ä😀\n\t\b\f\r\"\\/");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"a\":null}",
        "{\"a\":{\"b\":1}}",
        "{\"a\":[1]}",
        "{\"b\":{\"a\":1}}",
        "[{\"a\":1}]",
        "\"a\"",
        "{\"a\":1,\"a\":null}",
        "{\"a\":1,\"a\":{}}",
      })
  void hasNothingWhereNoScalarIs(String document) {
    assertThat(JsonKey.find(JsonKey.stepsOf("a"), document)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{\"a\":1",
        "{\"a\":1}}",
        "{\"a\":1,}",
        "{\"a\":1} x",
        "{'a':1}",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":+1}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":NaN}",
        "{\"a\":tru}",
        "{\"a\":nul}",
        "{\"a\":\"x}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"tab\there\"}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1,\"b\":[1,]}",
        "{\"a\":1,\"b\":[1 2]}",
        "{\"a\":1,\"b\":}",
        "\u00a0{\"a\":1}",
      })
  void aMalformedDocumentHasNothingEvenIfTheScalarCameBefore(String document) {
    assertThat(JsonKey.find(JsonKey.stepsOf("a"), document)).isEmpty();
  }

  @Test
  void deepNestingIsRefusedInsteadOfOverflowing() {
    var deep = "[".repeat(100_000) + "]".repeat(100_000);

    assertThat(JsonKey.find(JsonKey.stepsOf("a"), deep)).isEmpty();
    assertThat(JsonKey.find(JsonKey.stepsOf("a"), "{\"a\":1,\"b\":" + deep + "}")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "a..b", ".a", "a."})
  void aPathWithAnEmptyStepIsRefused(String path) {
    assertThatThrownBy(() -> JsonKey.stepsOf(path))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("JSON path");
  }

  @Test
  void everyPrefixOfADocumentIsMalformed() {
    var document = "{\"a\":\"x\\u00e4\",\"b\":[1,{\"c\":-1.5e3}],\"d\":null}";
    for (int length = 0; length < document.length(); length++) {
      assertThat(JsonKey.find(JsonKey.stepsOf("a"), document.substring(0, length))).isEmpty();
    }
    assertThat(JsonKey.find(JsonKey.stepsOf("a"), document)).contains("xä");
  }

  @Test
  void propertiesAndJsonBodiesOfMessagesHaveKeys() {
    var message =
        Message.unordered(Payload.json("{\"order\":{\"customer\":{\"id\":42}}}"))
            .withProperty("tenant", "acme");

    assertThat(json("order.customer.id").extract(message)).contains(SessionId.of("42"));
    assertThat(allOf(property("tenant"), json("order.customer.id")).extract(message))
        .contains(SessionId.of("acme/42"));
    assertThat(json("order.nobody").orElse(property("tenant")).extract(message))
        .contains(SessionId.of("acme"));
    assertThat(json("a").extract(Message.unordered(Payload.text("no json")))).isEmpty();
  }

  @Test
  void aMessageTakesTheSessionThatWasChosen() {
    var message = Message.unordered(Payload.json("{\"id\":\"d-1\"}"));

    var session = json("id").orElseUnique().extract(message).orElseThrow();

    assertThat(message.inSession(session).session()).contains(SessionId.of("d-1"));
    assertThat(message.inSession(session).id()).isEqualTo(message.id());
  }
}
