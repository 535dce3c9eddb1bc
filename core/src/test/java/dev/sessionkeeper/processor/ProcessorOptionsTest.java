package dev.sessionkeeper.processor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.RetryPolicy;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProcessorOptionsTest {
  private static final ProcessorOptions DEFAULTS = ProcessorOptions.ofDefaults();

  @Test
  void theDefaultsAreThoseOfTheDocs() {
    assertThat(DEFAULTS)
        .isEqualTo(
            new ProcessorOptions(
                8,
                Duration.ofMinutes(2),
                Duration.ofMinutes(30),
                1000,
                Duration.ofMinutes(5),
                32,
                RetryPolicy.ofDefaults(),
                Optional.empty(),
                Duration.ofSeconds(30)));
  }

  @Test
  void eachOptionIsChangedAlone() {
    var retry = RetryPolicy.forStore(2);
    assertThat(
            DEFAULTS
                .withMaxConcurrentSessions(1)
                .withSessionIdleTimeout(Duration.ofSeconds(2))
                .withSessionMaxDuration(Duration.ofSeconds(3))
                .withMaxMessagesPerHold(4)
                .withMaxAutoRenew(Duration.ofSeconds(5))
                .withPrefetch(6)
                .withRetry(retry)
                .withPoisonPolicy(PoisonPolicy.STOP)
                .withDrainTimeout(Duration.ofSeconds(7)))
        .isEqualTo(
            new ProcessorOptions(
                1,
                Duration.ofSeconds(2),
                Duration.ofSeconds(3),
                4,
                Duration.ofSeconds(5),
                6,
                retry,
                Optional.of(PoisonPolicy.STOP),
                Duration.ofSeconds(7)));
  }

  @Test
  void impossibleOptionsAreRefusedWithNameAndValue() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.withMaxConcurrentSessions(0))
        .withMessage("maxConcurrentSessions must be at least 1, was 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.withMaxMessagesPerHold(-1))
        .withMessage("maxMessagesPerHold must be at least 1, was -1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.withPrefetch(0))
        .withMessage("prefetch must be at least 1, was 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.withDrainTimeout(Duration.ZERO))
        .withMessage("drainTimeout must be longer than zero, was PT0S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.withMaxAutoRenew(Duration.ofSeconds(-1)))
        .withMessage("maxAutoRenew must be longer than zero, was PT-1S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.withSessionMaxDuration(Duration.ofSeconds(1)))
        .withMessage(
            "sessionIdleTimeout must not be longer than sessionMaxDuration (PT1S), was PT2M");
  }
}
