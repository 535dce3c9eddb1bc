package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class QueueSettingTest {
  private static final QueueSettings UNUSUAL =
      new QueueSettings(
          QueueMode.UNORDERED,
          7,
          Duration.ofSeconds(2),
          Duration.ofSeconds(3),
          Duration.ZERO,
          PoisonPolicy.BLOCK);

  @Test
  void everyComponentOfTheSettingsButTheModeIsDeclared() {
    var components =
        Arrays.stream(QueueSettings.class.getRecordComponents())
            .map(component -> component.getName())
            .filter(name -> !name.equals("mode"))
            .toList();

    assertThat(QueueSetting.all()).extracting(QueueSetting::name).isEqualTo(components);
  }

  @Test
  void textsAndMembersGiveTheSameSettingsBack() {
    var read =
        QueueSettings.parse(
            QueueMode.UNORDERED,
            setting -> Optional.of(UNUSUAL.members().get(setting.name()).toString()));

    assertThat(read).isEqualTo(UNUSUAL);
    assertThat(UNUSUAL.members())
        .containsEntry("mode", "UNORDERED")
        .containsEntry("maxDeliveryCount", 7)
        .containsEntry("lockDuration", "PT2S");
  }

  @Test
  void aMissingTextIsTheDefault() {
    assertThat(QueueSettings.parse(QueueMode.ORDERED, setting -> Optional.empty()))
        .isEqualTo(QueueSettings.ordered());
  }

  @Test
  void aTextThatCannotBeReadIsRefusedWithItsName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> QueueSetting.LOCK_DURATION.parse(UNUSUAL, "soon"))
        .withMessage("lockDuration must be PT1S to PT12H, was soon");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> QueueSetting.POISON_POLICY.parse(UNUSUAL, "EXPLODE"))
        .withMessage("poisonPolicy must be DEAD_LETTER, PARK_SESSION, BLOCK, STOP, was EXPLODE");
  }

  @Test
  void optionsAndTagsHaveHyphens() {
    assertThat(QueueSetting.MAX_DELIVERY_COUNT.hyphenated()).isEqualTo("max-delivery-count");
  }
}
