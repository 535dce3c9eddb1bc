package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PoisonPolicyTest {
  private static final Settlement.Retry RETRY =
      new Settlement.Retry(Duration.ofSeconds(1), true, true, "no stock");
  private static final Settlement.Retry ENDLESS =
      new Settlement.Retry(Duration.ofSeconds(1), false, true, "no stock");

  @Test
  void theRetryIsMadeWhileAttemptsAreLeft() {
    var settings = QueueSettings.ordered().withMaxDeliveryCount(3);

    assertThat(settings.settlementAfter(2, RETRY)).isEqualTo(RETRY);
    assertThat(settings.settlementAfter(3, RETRY))
        .isEqualTo(Settlement.deadLetter("max delivery count reached", "no stock"));
    assertThat(settings.isDeadLetterAfter(2)).isFalse();
    assertThat(settings.isDeadLetterAfter(3)).isTrue();
  }

  @Test
  void aRetryWithoutLimitIsMadeForEver() {
    var settings = QueueSettings.ordered().withMaxDeliveryCount(1);

    assertThat(settings.settlementAfter(100, ENDLESS)).isEqualTo(ENDLESS);
  }

  @Test
  void parkingNeedsASession() {
    var ordered =
        QueueSettings.ordered().withMaxDeliveryCount(1).withPoisonPolicy(PoisonPolicy.PARK_SESSION);
    var unordered =
        QueueSettings.unordered()
            .withMaxDeliveryCount(1)
            .withPoisonPolicy(PoisonPolicy.PARK_SESSION);

    assertThat(ordered.settlementAfter(1, RETRY))
        .isEqualTo(Settlement.park("max delivery count reached: no stock"));
    assertThat(ordered.isDeadLetterAfter(1)).isFalse();
    assertThat(unordered.settlementAfter(1, RETRY)).isInstanceOf(Settlement.DeadLetter.class);
    assertThat(unordered.isDeadLetterAfter(1)).isTrue();
  }

  @Test
  void blockAndStopKeepTrying() {
    for (var policy : new PoisonPolicy[] {PoisonPolicy.BLOCK, PoisonPolicy.STOP}) {
      var settings = QueueSettings.ordered().withMaxDeliveryCount(1).withPoisonPolicy(policy);

      assertThat(settings.settlementAfter(1, RETRY)).isEqualTo(RETRY);
      assertThat(settings.isDeadLetterAfter(1)).isFalse();
    }
  }
}
