package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BrowserSessionsTest {
  private final BrowserSessions sessions = new BrowserSessions(TimeSource.system());

  private String cookie(String digit) {
    return sessions.cookie(login(digit), Duration.ofHours(1));
  }

  private static BrowserSessions.Login login(String digit) {
    return new BrowserSessions.Login.ByKey(digit.repeat(64));
  }

  /** An attacker in the network can make a browser send a cookie without the prefix. */
  @Test
  void aPlantedCookieDoesNotReplaceALogin() {
    var planted = BrowserSessions.PLAIN_NAME + "=" + cookie("a");
    var own = BrowserSessions.SECURE_NAME + "=" + cookie("b");
    assertThat(sessions.read(planted + "; " + own)).contains(login("b"));
    assertThat(sessions.read(own + "; " + planted)).contains(login("b"));
    assertThat(sessions.read(planted)).contains(login("a"));
  }
}
