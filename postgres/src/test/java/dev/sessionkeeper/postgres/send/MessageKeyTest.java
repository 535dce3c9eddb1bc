package dev.sessionkeeper.postgres.send;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.MessageId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageKeyTest {
  private static final String TIMED = "019a8b2c-0d1e-7f00-8abc-0123456789ab";

  @Test
  void anIdThatBeginsWithTheTimeIsItsOwnKey() {
    assertThat(MessageKey.of(MessageId.of(TIMED))).hasToString(TIMED);
    var made = MessageId.random();
    assertThat(MessageKey.of(made)).hasToString(made.value());
  }

  /** Otherwise two ids would have one key, and the second message would be lost as a duplicate. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "019A8B2C-0D1E-7F00-8ABC-0123456789AB",
        "019a8b2c-0d1e-4f00-8abc-0123456789ab",
        "019a8b2c0d1e-7f00-8abc-0123456789ab-",
        "019a8b2c-0d1e-7f00-8abc-0123456789a",
        "order-17"
      })
  void everyOtherIdHasAKeyThatNoneOfThoseCanHave(String id) {
    var key = MessageKey.of(MessageId.of(id));
    assertThat(key.version()).isEqualTo(8);
    assertThat(key).isEqualTo(MessageKey.of(MessageId.of(id)));
    assertThat(MessageKey.of(MessageId.of(id + "x"))).isNotEqualTo(key);
  }
}
