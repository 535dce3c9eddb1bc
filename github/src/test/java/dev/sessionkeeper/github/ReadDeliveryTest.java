package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Payload;
import dev.sessionkeeper.github.ReadResult.Accepted;
import dev.sessionkeeper.github.ReadResult.Reason;
import dev.sessionkeeper.github.ReadResult.Refused;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReadDeliveryTest {
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final byte[] EMPTY = "{}".getBytes(UTF_8);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "empty",
      value = {
        "empty|MALFORMED_JSON",
        "{|MALFORMED_JSON",
        "hello|MALFORMED_JSON",
        "{}{}|MALFORMED_JSON",
        "[1] 2|MALFORMED_JSON",
        "{\"a\":01}|MALFORMED_JSON",
        "{'a':1}|MALFORMED_JSON",
        "{\"a\":\"\\x\"}|MALFORMED_JSON",
        "{\"a\":NaN}|MALFORMED_JSON",
        "payload=%7B%7D|MALFORMED_JSON",
        "[1]|NOT_AN_OBJECT",
        "\"text\"|NOT_AN_OBJECT",
        "null|NOT_AN_OBJECT",
        "12|NOT_AN_OBJECT"
      })
  void aBodyThatIsNoJsonObjectIsRefused(String body, Reason reason) {
    byte[] bytes = body == null ? new byte[0] : body.getBytes(UTF_8);
    assertThat(reasonOf(Deliveries.signed("issues", "application/json", bytes))).contains(reason);
    assertThat(reason.status()).isEqualTo(400);
  }

  @Test
  void onlyUtf8IsRead() {
    for (var body :
        List.of(
            "ÿþ{}".getBytes(ISO_8859_1),
            "{\"a\":\"é\"}".getBytes(ISO_8859_1),
            "{\"a\":1}".getBytes(UTF_16LE),
            "\ufeff{}".getBytes(UTF_8),
            new byte[] {'{', '"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"', ':', '1', '}'})) {
      assertThat(reasonOf(Deliveries.signed("issues", "application/json", body)))
          .contains(Reason.NOT_UTF_8);
    }
  }

  @Test
  void deepNestingIsRefusedAndNotFollowed() {
    int deep = 100_000;
    for (var body :
        List.of(
            "{\"a\":" + "[".repeat(deep) + "]".repeat(deep) + "}",
            "{\"repository\":".repeat(deep) + "1" + "}".repeat(deep),
            "{\"" + "n".repeat(60_000) + "\":1}",
            "{\"a\":" + "1".repeat(60_000) + "}")) {
      assertThat(reasonOf(Deliveries.signed("issues", "application/json", body.getBytes(UTF_8))))
          .contains(Reason.TOO_COMPLEX);
    }
  }

  @Test
  void theDeepestNestingIsAllowed() {
    assertThat(reasonOf(nested(ReadFacts.MAX_DEPTH))).isEmpty();
    assertThat(reasonOf(nested(ReadFacts.MAX_DEPTH + 1))).contains(Reason.TOO_COMPLEX);
  }

  private static RawDelivery nested(int depth) {
    var json = "{\"a\":" + "[".repeat(depth - 1) + "]".repeat(depth - 1) + "}";
    return Deliveries.signed("issues", "application/json", json.getBytes(UTF_8));
  }

  @Test
  void theSignatureIsCheckedBeforeAnythingElseIsLookedAt() {
    var unsigned =
        new RawDelivery(
            Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), EMPTY);
    assertThat(reasonOf(unsigned)).contains(Reason.NOT_SIGNED);
    var wrong =
        new RawDelivery(
            Optional.empty(), Optional.empty(), Optional.of("sha256=0"), Optional.empty(), EMPTY);
    assertThat(reasonOf(wrong)).contains(Reason.WRONG_SIGNATURE);
    // A bad signature is 401, not 400.
    assertThat(List.of(Reason.NOT_SIGNED.status(), Reason.WRONG_SIGNATURE.status()))
        .containsOnly(401);
  }

  @Test
  void headersAreNeeded() {
    var signature = Optional.of(GitHubSignature.sign(Deliveries.SECRET, EMPTY));
    var none = Optional.<String>empty();
    assertThat(reasonOf(new RawDelivery(none, Optional.of("d"), signature, none, EMPTY)))
        .contains(Reason.MISSING_EVENT);
    assertThat(reasonOf(new RawDelivery(Optional.of("push"), none, signature, none, EMPTY)))
        .contains(Reason.MISSING_DELIVERY_ID);
    for (var bad : List.of("", " ", "a.b", "a b", "a\nb", "é", "x".repeat(101))) {
      assertThat(
              reasonOf(new RawDelivery(Optional.of(bad), Optional.of("d"), signature, none, EMPTY)))
          .contains(Reason.INVALID_EVENT);
    }
    for (var bad : List.of("", " ", "a b", "'; drop table events; --", "x".repeat(101))) {
      assertThat(
              reasonOf(
                  new RawDelivery(Optional.of("push"), Optional.of(bad), signature, none, EMPTY)))
          .contains(Reason.INVALID_DELIVERY_ID);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/vnd.github+json"
      })
  void jsonContentTypesAreRead(String contentType) {
    assertThat(reasonOf(Deliveries.signed("push", contentType, EMPTY))).isEmpty();
  }

  @Test
  void otherContentTypesAreRefused() {
    for (var type : List.of("text/plain", "multipart/form-data; boundary=x", "", ";")) {
      assertThat(reasonOf(Deliveries.signed("push", type, EMPTY)))
          .contains(Reason.UNSUPPORTED_CONTENT_TYPE);
    }
  }

  @Test
  void aFormIsReadLikeJsonAndItsSignatureIsOverTheRawBytes() {
    var json = "{\"action\":\"a+b %&= é\",\"repository\":{\"full_name\":\"acme/app\"}}";
    var body = ("x=1&payload=" + URLEncoder.encode(json, UTF_8) + "&y").getBytes(UTF_8);
    var read = Deliveries.READER.read(Deliveries.signed("issues", FORM, body));
    assertThat(read)
        .isInstanceOfSatisfying(
            Accepted.class,
            accepted -> {
              assertThat(accepted.event().action()).contains("a+b %&= é");
              assertThat(accepted.event().payload()).isEqualTo(Payload.json(json));
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "payload",
        "payload%",
        "other=%7B%7D",
        "payload=%7B%7D&payload=%7B%7D",
        "payload=%7B%7",
        "payload=%zz",
        "payload=%",
        "pay%6=1"
      })
  void aBrokenFormIsRefused(String form) {
    assertThat(reasonOf(Deliveries.signed("issues", FORM, form.getBytes(UTF_8))))
        .contains(Reason.MALFORMED_FORM);
  }

  @Test
  void aFormWithABrokenPayloadIsRefusedAsJsonWouldBe() {
    assertThat(reasonOf(Deliveries.signed("issues", FORM, "payload=%7B".getBytes(UTF_8))))
        .contains(Reason.MALFORMED_JSON);
    assertThat(reasonOf(Deliveries.signed("issues", FORM, "payload=%FF".getBytes(UTF_8))))
        .contains(Reason.NOT_UTF_8);
  }

  @Test
  void aBodyOverTheLimitIsRefusedWithTheLimit() {
    var small = ReadDelivery.create(GitHubSignature.of(List.of(Deliveries.SECRET)), 10);
    var body = "{\"a\":12345}".getBytes(UTF_8);
    assertThat(small.read(Deliveries.signed("push", "application/json", body)))
        .isEqualTo(new Refused(Reason.TOO_LARGE, "A body has at most 10 bytes, this one has 11"));
  }

  @Test
  void theLastOfTwoEqualNamesCountsAsItDoesForTheBots() {
    var event =
        Deliveries.event(
            "issues",
            "{\"repository\":{\"full_name\":\"acme/first\",\"id\":1},\"issue\":{\"number\":1},"
                + "\"issue\":{\"number\":2},\"repository\":{\"full_name\":\"acme/second\"}}");
    assertThat(Deliveries.entitySession(event)).isEqualTo("acme/second/issue/2");
    assertThat(event.repository().orElseThrow().id()).isEmpty();
  }

  private static Optional<Reason> reasonOf(RawDelivery raw) {
    return switch (Deliveries.READER.read(raw)) {
      case Accepted accepted -> Optional.empty();
      case Refused refused -> {
        assertThat(refused.explanation()).isNotBlank().doesNotContain("\n");
        yield Optional.of(refused.reason());
      }
    };
  }

  @Test
  void aDeliveryThatWasKeptIsReadAgainWithoutItsSignature() {
    var body = "{\"action\":\"opened\"}".getBytes(StandardCharsets.UTF_8);
    var kept =
        new RawDelivery(
            Optional.of("issues"), Optional.of("d"), Optional.empty(), Optional.empty(), body);
    assertThat(ReadDelivery.readAgain(kept))
        .isInstanceOfSatisfying(
            Accepted.class, again -> assertThat(again.event().name()).isEqualTo("issues.opened"));
    var headless =
        new RawDelivery(
            Optional.empty(), Optional.of("d"), Optional.empty(), Optional.empty(), body);
    assertThat(ReadDelivery.readAgain(headless)).isInstanceOf(ReadResult.Refused.class);
  }
}
