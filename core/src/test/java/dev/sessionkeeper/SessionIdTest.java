package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionIdTest {

  @ParameterizedTest
  @ValueSource(strings = {"", "   ", "a\nb", "a\u007f", "a\u0085", "\u0000", "\ud83d", "\ude00a"})
  void refusesBlanksControlCharactersAndHalvesOfACharacter(String value) {
    assertThatThrownBy(() -> SessionId.of(value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 128 characters, no control characters")
        .hasMessageContaining("of length " + value.length());
  }

  @ParameterizedTest
  @ValueSource(strings = {"Kunde Müller", "顧客", "a/b c", "😀"})
  void takesNamesOfAnyScript(String value) {
    assertThat(SessionId.of(value).value()).isEqualTo(value);
  }

  @Test
  void takes128CharactersAndNotOneMore() {
    assertThat(SessionId.of("x".repeat(128)).value()).hasSize(128);
    assertThatThrownBy(() -> SessionId.of("x".repeat(129)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aKeyThatFitsIsTheId() {
    assertThat(SessionId.fromKey("octo/repo/pull_request/7").value())
        .isEqualTo("octo/repo/pull_request/7");
    assertThat(SessionId.fromKey("x".repeat(128)).value()).isEqualTo("x".repeat(128));
  }

  @Test
  void shorteningIsTheSameInEveryVersion() {
    // These values are stored in queues. If this test fails the code is wrong, not the test.
    assertThat(SessionId.fromKey("x".repeat(129)).value())
        .isEqualTo("x".repeat(95) + "~0ec9eb33e74510bcdd1f2ea55206e82f");
    assertThat(SessionId.fromKey("schlüssel").value())
        .isEqualTo("schl_ssel~ccec7a8e3e039f0b6b308a81f438e1d0");
    assertThat(SessionId.fromKey("a\tb").value()).isEqualTo("a_b~894891f8b78a9945b0aa07e70d5f71f1");
    assertThat(SessionId.fromKey(" ").value()).isEqualTo(" ~36a9e7f1c95b82ffb99743e0c5c4ce95");
  }

  @Test
  void keysThatDifferOnlyBehindTheCutStayApart() {
    var ids = new HashSet<SessionId>();
    for (int i = 0; i < 10_000; i++) {
      ids.add(SessionId.fromKey("k".repeat(200) + i));
    }
    assertThat(ids).hasSize(10_000).allMatch(id -> id.value().length() == 128);
  }

  @Test
  void aKeyThatLooksLikeAShortenedOneStaysApartFromIt() {
    var shortened = SessionId.fromKey("k".repeat(200));

    assertThat(SessionId.fromKey(shortened.value())).isEqualTo(shortened);
    assertThat(SessionId.unique()).isNotEqualTo(SessionId.unique());
  }

  @Test
  void idsAreSortedByValue() {
    assertThat(SessionId.of("a")).isLessThan(SessionId.of("b"));
  }
}
