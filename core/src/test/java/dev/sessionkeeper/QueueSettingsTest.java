package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class QueueSettingsTest {

  @Test
  void theDefaultsAreThoseOfTheDocs() {
    var settings = QueueSettings.ordered();

    assertThat(settings.mode()).isEqualTo(QueueMode.ORDERED);
    assertThat(settings.maxDeliveryCount()).isEqualTo(5);
    assertThat(settings.lockDuration()).isEqualTo(Duration.ofMinutes(1));
    assertThat(settings.messageTtl()).isEqualTo(Duration.ofHours(24));
    assertThat(settings.duplicateWindow()).isEqualTo(Duration.ofMinutes(10));
    assertThat(settings.poisonPolicy()).isEqualTo(PoisonPolicy.DEAD_LETTER);
    assertThat(QueueSettings.unordered().mode()).isEqualTo(QueueMode.UNORDERED);
  }

  @Test
  void eachSettingIsChangedAlone() {
    var settings =
        QueueSettings.ordered()
            .withMaxDeliveryCount(3)
            .withLockDuration(Duration.ofSeconds(2))
            .withMessageTtl(Duration.ofSeconds(3))
            .withDuplicateWindow(Duration.ZERO)
            .withPoisonPolicy(PoisonPolicy.BLOCK);

    assertThat(settings)
        .isEqualTo(
            new QueueSettings(
                QueueMode.ORDERED,
                3,
                Duration.ofSeconds(2),
                Duration.ofSeconds(3),
                Duration.ZERO,
                PoisonPolicy.BLOCK));
  }

  @Test
  void valuesOutOfRangeAreRefusedWithNameValueAndRange() {
    var settings = QueueSettings.ordered();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> settings.withMaxDeliveryCount(0))
        .withMessage("maxDeliveryCount must be 1 to 1000, was 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> settings.withLockDuration(Duration.ofMillis(999)))
        .withMessage("lockDuration must be PT1S to PT12H, was PT0.999S");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> settings.withMessageTtl(Duration.ofDays(367)))
        .withMessageContaining("messageTtl must be");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> settings.withDuplicateWindow(Duration.ofSeconds(-1)))
        .withMessageContaining("duplicateWindow must be");
  }
}
