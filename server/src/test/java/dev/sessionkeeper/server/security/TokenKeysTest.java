package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.testkit.SettableClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Keys from an address, whose provider rotates them. */
class TokenKeysTest {
  private final SettableClock time = SettableClock.create();
  private final AtomicInteger asked = new AtomicInteger();
  private volatile String answer = "";
  private HttpServer provider;

  @BeforeEach
  void start() throws IOException {
    provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    provider.createContext(
        "/jwks",
        exchange -> {
          asked.incrementAndGet();
          var bytes = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(bytes.length == 0 ? 500 : 200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    provider.start();
  }

  @AfterEach
  void stop() {
    provider.stop(0);
  }

  private JwtConfig config() {
    var url = URI.create("http://127.0.0.1:" + provider.getAddress().getPort() + "/jwks");
    return new JwtConfig(
        "https://id.example",
        "keeper",
        List.of("ES256"),
        Optional.empty(),
        Optional.of(url),
        "roles",
        "tenant",
        true);
  }

  private static ECKey key(String id) throws Exception {
    return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
  }

  private void serves(ECKey key) {
    answer = new JWKSet(key).toString();
  }

  private static boolean knows(TokenKeys keys, String id) {
    return !keys.get(new JWKSelector(new JWKMatcher.Builder().keyID(id).build()), null).isEmpty();
  }

  @Test
  void theKeysAreReadAgainNowAndThenAndStayWhenThatFails() throws Exception {
    serves(key("k1"));
    try (var keys = new TokenKeys(config(), time)) {
      assertThat(knows(keys, "k1")).isTrue();

      serves(key("k2"));
      time.advance(Duration.ofMinutes(5));
      await().until(() -> knows(keys, "k2"));
      assertThat(knows(keys, "k1")).isFalse();

      answer = "";
      await().until(() -> time.pendingTimers() > 0);
      int before = asked.get();
      time.advance(Duration.ofMinutes(5));
      await().until(() -> asked.get() > before);
      await().until(() -> time.pendingTimers() > 0);
      assertThat(knows(keys, "k2")).isTrue();
    }
  }

  @Test
  void aKeyThatIsNotKnownIsLookedForSoonButNotAtEveryToken() throws Exception {
    serves(key("k1"));
    try (var keys = new TokenKeys(config(), time)) {
      serves(key("k2"));
      assertThat(knows(keys, "k2")).isFalse();
      assertThat(knows(keys, "k2")).isFalse();
      assertThat(asked).hasValue(1);

      time.advance(Duration.ofSeconds(10));
      await().until(() -> knows(keys, "k2"));
      assertThat(asked).hasValue(2);
    }
  }

  @Test
  void aServerWhoseKeysCannotBeReadDoesNotStart() {
    assertThatThrownBy(() -> new TokenKeys(config(), time))
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("security.jwt");
  }
}
