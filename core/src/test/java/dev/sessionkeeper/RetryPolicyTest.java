package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {

  @Test
  void delaysDoubleUpToTheMost() {
    var policy = new RetryPolicy(9, Duration.ofSeconds(1), 2, Duration.ofSeconds(16), 0);
    var random = new Random(1);

    assertThat(policy.delayAfter(1, random)).isEqualTo(Duration.ofSeconds(1));
    assertThat(policy.delayAfter(2, random)).isEqualTo(Duration.ofSeconds(2));
    assertThat(policy.delayAfter(5, random)).isEqualTo(Duration.ofSeconds(16));
    assertThat(policy.delayAfter(6, random)).isEqualTo(Duration.ofSeconds(16));
    assertThat(policy.delayAfter(Integer.MAX_VALUE, random)).isEqualTo(Duration.ofSeconds(16));
  }

  @Test
  void jitterStaysInItsBoundsAndUsesThem() {
    var policy = RetryPolicy.ofDefaults();
    var random = new Random(2);
    var least = Duration.ofDays(1);
    var most = Duration.ZERO;
    for (int i = 0; i < 10_000; i++) {
      var delay = policy.delayAfter(3, random);
      assertThat(delay).isBetween(Duration.ofSeconds(3), Duration.ofSeconds(5));
      least = delay.compareTo(least) < 0 ? delay : least;
      most = delay.compareTo(most) > 0 ? delay : most;
    }
    assertThat(least).isLessThan(Duration.ofMillis(3050));
    assertThat(most).isGreaterThan(Duration.ofMillis(4950));
  }

  @Test
  void theSameSeedGivesTheSameDelays() {
    var policy = RetryPolicy.ofDefaults();

    assertThat(policy.delayAfter(2, new Random(5))).isEqualTo(policy.delayAfter(2, new Random(5)));
  }

  @Test
  void attemptsAreCountedFromOne() {
    var policy = RetryPolicy.ofDefaults();

    assertThat(policy.allowsAfter(4)).isTrue();
    assertThat(policy.allowsAfter(5)).isFalse();
    assertThat(policy.withMaxAttempts(1).allowsAfter(1)).isFalse();
    assertThat(RetryPolicy.forStore(3).allowsAfter(2)).isTrue();
  }

  @Test
  void impossiblePoliciesAreRefused() {
    var second = Duration.ofSeconds(1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RetryPolicy(0, second, 2, second, 0))
        .withMessage("maxAttempts must be at least 1, was 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RetryPolicy(1, second, 0.5, second, 0))
        .withMessage("factor must be at least 1, was 0.5");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RetryPolicy(1, second, 1, second, 1.5))
        .withMessage("jitter must be 0 to 1, was 1.5");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RetryPolicy(1, second.negated(), 1, second, 0))
        .withMessageContaining("first must not be negative");
  }
}
