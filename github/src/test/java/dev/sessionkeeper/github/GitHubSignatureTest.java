package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GitHubSignatureTest {
  // The example in GitHub's documentation.
  private static final byte[] BODY = "Hello, World!".getBytes(UTF_8);
  private static final String HEX =
      "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

  private final GitHubSignature signature = GitHubSignature.of(List.of(Deliveries.SECRET));

  @Test
  void thePublishedExampleVerifies() {
    assertThat(GitHubSignature.sign(Deliveries.SECRET, BODY)).isEqualTo("sha256=" + HEX);
    assertThat(signature.verify(BODY, "sha256=" + HEX)).isTrue();
    assertThat(signature.verify(BODY, "sha256=" + HEX.toUpperCase(Locale.ROOT))).isTrue();
  }

  @Test
  void anySecretOfARotationVerifies() {
    var rotating = GitHubSignature.of(List.of("new", Deliveries.SECRET));
    assertThat(rotating.verify(BODY, "sha256=" + HEX)).isTrue();
    assertThat(rotating.verify(BODY, GitHubSignature.sign("new", BODY))).isTrue();
    assertThat(rotating.verify(BODY, GitHubSignature.sign("older", BODY))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "sha256=",
        "sha256=00",
        "sha1=0000000000000000000000000000000000000000",
        "sha256=éééééééééééééééééééééééééééééééé",
        "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        " sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        "SHA256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e18",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1700",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1٧"
      })
  void anyOtherHeaderIsRefused(String header) {
    assertThat(signature.verify(BODY, header)).isFalse();
  }

  @Test
  void anotherBodyIsRefused() {
    assertThat(signature.verify("Hello, World?".getBytes(UTF_8), "sha256=" + HEX)).isFalse();
  }

  @Test
  void secretsAreNeededAndNeverShown() {
    assertThatThrownBy(() -> GitHubSignature.of(List.of())).hasMessageContaining("had 0");
    assertThatThrownBy(() -> GitHubSignature.of(List.of("a", ""))).hasMessageContaining("empty");
    assertThat(signature).hasToString("GitHubSignature with 1 secret");
  }
}
