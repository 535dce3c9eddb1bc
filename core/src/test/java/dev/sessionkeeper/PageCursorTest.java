package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageCursorTest {

  @Test
  void aCursorGivesItsKeyBack() {
    var cursor = PageCursor.after("sessions", "orders", "cust-42 ä", "");

    assertThat(PageCursor.keyOf("sessions", 3, cursor)).containsExactly("orders", "cust-42 ä", "");
  }

  @Test
  void aCursorOfAnotherListIsRefused() {
    var cursor = PageCursor.after("sessions", "a");

    assertRefused("jobs", 1, cursor);
    assertRefused("sessions", 2, cursor);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "AAAA", "AAAAAA", "not base64!", "////", "ä"})
  void whatNoListIssuedIsRefused(String cursor) {
    assertRefused("sessions", 1, cursor);
  }

  @Test
  void aCursorWithOneBitChangedIsRefused() {
    var bytes = Base64.getUrlDecoder().decode(PageCursor.after("sessions", "cust-42"));
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      var changed = bytes.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      assertRefused("sessions", 1, Base64.getUrlEncoder().withoutPadding().encodeToString(changed));
    }
  }

  @Test
  void noiseIsRefused() {
    var random = new Random(7);
    for (int i = 0; i < 2000; i++) {
      var bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      assertRefused("sessions", 1, Base64.getUrlEncoder().encodeToString(bytes));
    }
  }

  @Test
  void keysComeBackWhateverTheyHold() {
    var random = new Random(11);
    for (int i = 0; i < 500; i++) {
      var key = new ArrayList<String>();
      for (int part = 0; part < 3; part++) {
        key.add("k" + random.nextLong() + "/" + (char) (0x20 + random.nextInt(0x500)));
      }
      var cursor = PageCursor.after("list", key.toArray(String[]::new));
      assertThat(PageCursor.keyOf("list", 3, cursor)).isEqualTo(List.copyOf(key));
    }
  }

  private static void assertRefused(String list, int parts, String cursor) {
    assertThatThrownBy(() -> PageCursor.keyOf(list, parts, cursor))
        .as("cursor %s", cursor)
        .isInstanceOf(KeeperException.InvalidCursor.class)
        .hasMessageStartingWith("[SK-306]");
  }
}
