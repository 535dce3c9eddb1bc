package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BrowserSessionsTest {
  private final BrowserSessions sessions = new BrowserSessions(TimeSource.system());

  private String cookie(String name, String digit) {
    return name + "=" + sessions.cookie(login(digit), name, Duration.ofHours(1));
  }

  private static BrowserSessions.Login login(String digit) {
    return new BrowserSessions.Login.ByKey(digit.repeat(64));
  }

  /** An attacker in the network can make a browser send a cookie without the prefix. */
  @Test
  void aPlantedCookieDoesNotReplaceALogin() {
    var planted = cookie(BrowserSessions.PLAIN_NAME, "a");
    var own = cookie(BrowserSessions.SECURE_NAME, "b");
    assertThat(sessions.read(planted + "; " + own)).contains(login("b"));
    assertThat(sessions.read(own + "; " + planted)).contains(login("b"));
    assertThat(sessions.read(planted)).contains(login("a"));
  }

  /** A login over TLS, shown under the name that the network can plant, would log its victim in. */
  @Test
  void aCookieOfOneNameIsNoLoginUnderTheOther() {
    var secure = cookie(BrowserSessions.SECURE_NAME, "a");
    var plain = cookie(BrowserSessions.PLAIN_NAME, "a");
    assertThat(sessions.read(secure)).contains(login("a"));
    assertThat(
            sessions.read(secure.replace(BrowserSessions.SECURE_NAME, BrowserSessions.PLAIN_NAME)))
        .isEmpty();
    assertThat(
            sessions.read(plain.replace(BrowserSessions.PLAIN_NAME, BrowserSessions.SECURE_NAME)))
        .isEmpty();
  }
}
