package dev.sessionkeeper.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookSignatureTest {
  // The example that the reference libraries of Standard Webhooks share.
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
  private static final Instant SENT = Instant.ofEpochSecond(1614265330);
  private static final byte[] BODY = "{\"test\": 2432232314}".getBytes(UTF_8);
  private static final String SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  private final WebhookSignature signature = WebhookSignature.of(SECRET);

  @Test
  void thePublishedExampleIsSignedAsPublished() {
    assertThat(signature.sign(ID, SENT, BODY)).isEqualTo(SIGNED);
  }

  @Test
  void thePrefixOfASecretIsOptional() {
    assertThat(WebhookSignature.of(SECRET.substring(6)).sign(ID, SENT, BODY)).isEqualTo(SIGNED);
  }

  @Test
  void whatWasSignedVerifies() {
    assertThat(verify("1614265330", SIGNED, SENT)).isTrue();
    assertThat(verify("1614265330", "v1,AAAA v2,x " + SIGNED, SENT)).isTrue();
  }

  @Test
  void duringARotationBothSecretsSignAndEitherVerifies() {
    var fresh = "whsec_" + Base64.getEncoder().encodeToString("0123456789abcdef".getBytes(UTF_8));
    var both = WebhookSignature.of(List.of(fresh, SECRET));
    var header = both.sign(ID, SENT, BODY);
    assertThat(header.split(" ")).hasSize(2).contains(SIGNED);
    assertThat(verify("1614265330", header, SENT)).isTrue();
    assertThat(both.verify(ID, "1614265330", SIGNED, BODY, SENT, TOLERANCE)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "v1,",
        "v1",
        "v1,****",
        "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1,h0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
      })
  void anyOtherSignatureIsRefused(String header) {
    assertThat(verify("1614265330", header, SENT)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "now", "1614265331", "99999999999999999999", "9223372036854775807"})
  void aTimestampThatWasNotSignedIsRefused(String timestamp) {
    assertThat(verify(timestamp, SIGNED, SENT)).isFalse();
  }

  @Test
  void anOldRequestAndOneFromTheFutureAreRefused() {
    assertThat(verify("1614265330", SIGNED, SENT.plusSeconds(300))).isTrue();
    assertThat(verify("1614265330", SIGNED, SENT.plusSeconds(301))).isFalse();
    assertThat(verify("1614265330", SIGNED, SENT.minusSeconds(301))).isFalse();
  }

  @Test
  void aBadSecretIsRefusedWithoutBeingShown() {
    assertThatThrownBy(() -> WebhookSignature.of("whsec_not!base64"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("whsec_ and base64")
        .hasMessageNotContaining("not!");
    assertThatThrownBy(() -> WebhookSignature.of("whsec_c2hvcnQ="))
        .hasMessageContaining("16 to 128 bytes")
        .hasMessageContaining("was 5 bytes");
    assertThatThrownBy(() -> WebhookSignature.of(List.of())).hasMessageContaining("at least one");
    assertThat(signature).hasToString("WebhookSignature with 1 secret");
  }

  private boolean verify(String timestamp, String header, Instant now) {
    return signature.verify(ID, timestamp, header, BODY, now, TOLERANCE);
  }
}
