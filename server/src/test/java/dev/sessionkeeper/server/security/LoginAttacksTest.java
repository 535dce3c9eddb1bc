package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.server.ShiftedTime;
import dev.sessionkeeper.server.TestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Attacks on the dashboard's routes by strangers and by holders of a credential. */
class LoginAttacksTest {
  private final HttpClient client = HttpClient.newHttpClient();

  @TempDir Path folder;

  @Test
  void wrongKeysDoNotFillTheAuditLog() throws Exception {
    var admin = ApiKeys.generate();
    try (var server = TestServer.start(keys("root", admin, "admin"))) {
      for (int i = 0; i < 30; i++) {
        assertThat(login(server, "wrong-" + i).statusCode()).isEqualTo(401);
      }
      await().until(() -> audit(server, admin).contains("access.refused"));
      assertThat(audit(server, admin).split("\"id\"", -1)).hasSizeLessThan(4);
    }
  }

  /** The state of a login is valid for ten minutes, and anyone can begin one. */
  @Test
  void loginsThatNobodyFinishesDoNotFillTheAuditLog() throws Exception {
    var admin = ApiKeys.generate();
    try (var issuer = new SilentIssuer();
        var server =
            TestServer.start(issuer.yaml(TestTokens.in(folder), key("root", admin, "admin")))) {
      var begun =
          client.send(to(server, "/ui/login/oidc").build(), HttpResponse.BodyHandlers.discarding());
      assertThat(begun.statusCode()).isEqualTo(303);
      var state = begun.headers().firstValue("Location").orElseThrow();
      state = state.replaceFirst(".*[?&]state=([^&]*).*", "$1");
      var cookie = begun.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
      for (var outcome : List.of("code=made-up", "error=access_denied&error_description=mallory")) {
        for (int i = 0; i < 15; i++) {
          var back = to(server, "/ui/login/callback?" + outcome + "&state=" + state);
          var answer =
              client.send(
                  back.header("Cookie", cookie).build(), HttpResponse.BodyHandlers.discarding());
          assertThat(answer.statusCode()).isEqualTo(401);
        }
      }
      await().until(() -> audit(server, admin).contains("access.refused"));
      assertThat(audit(server, admin)).doesNotContain("mallory", "dashboard.login");
      assertThat(audit(server, admin).split("\"id\"", -1)).hasSizeLessThan(4);
    }
  }

  /** A provider that publishes its endpoints and confirms no code. */
  private static final class SilentIssuer implements AutoCloseable {
    private final HttpServer pages;

    SilentIssuer() throws IOException {
      pages = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      pages.createContext("/", this::answer);
      pages.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
      var at = "http://127.0.0.1:" + pages.getAddress().getPort();
      boolean isToken = exchange.getRequestURI().getPath().equals("/token");
      var text =
          isToken
              ? "{}"
              : "{\"issuer\":\"%1$s\",\"authorization_endpoint\":\"%1$s/a\",\"token_endpoint\":\"%1$s/token\"}"
                  .formatted(at);
      exchange.sendResponseHeaders(isToken ? 400 : 200, text.length());
      exchange.getResponseBody().write(text.getBytes(StandardCharsets.US_ASCII));
      exchange.close();
    }

    String yaml(TestTokens tokens, String keys) {
      var at = "http://127.0.0.1:" + pages.getAddress().getPort();
      return "security:\n"
          + tokens.yaml("").replace("https://id.example", at)
          + "  keys:\n"
          + keys
          + "dashboard: { public_url: \"http://127.0.0.1:1\", oidc: { client_id: me } }\n";
    }

    @Override
    public void close() {
      pages.stop(0);
    }
  }

  @Test
  void aLoginEndsWithItsToken() throws Exception {
    var tokens = TestTokens.in(folder);
    var time = new ShiftedTime();
    var yaml = "security:\n" + tokens.yaml(", bound_to_tenant: false");
    try (var server = TestServer.start(yaml, time)) {
      var token =
          tokens.token(
              claims ->
                  claims.expirationTime(Date.from(time.instant().plus(Duration.ofMinutes(5)))));
      var answer = login(server, token);
      var cookie = answer.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
      assertThat(page(server, cookie)).isEqualTo(200);
      time.shift(Duration.ofMinutes(6));
      assertThat(page(server, cookie)).as("leads to the login").isEqualTo(303);
    }
  }

  @Test
  void oneCredentialCannotFollowTheLiveNumbersWithoutLimit() throws Exception {
    var mallory = ApiKeys.generate();
    var ann = ApiKeys.generate();
    try (var server =
        TestServer.start(keys("mallory", mallory, "read") + key("ann", ann, "read"))) {
      var open = new ArrayList<HttpResponse<?>>();
      for (int i = 0; i < 250; i++) {
        open.add(live(server, mallory));
      }
      assertThat(open).allMatch(answer -> answer.statusCode() == 200);
      assertThat(live(server, mallory).statusCode()).isEqualTo(503);
      assertThat(live(server, ann).statusCode()).isEqualTo(200);
      client.shutdownNow();
    }
  }

  private HttpResponse<?> live(TestServer server, ApiKeys.Generated key) throws Exception {
    return client.send(
        to(server, "/samples/live").header("Authorization", "Bearer " + key.key()).build(),
        HttpResponse.BodyHandlers.ofInputStream());
  }

  private HttpResponse<String> login(TestServer server, String shown) throws Exception {
    var form = "next=%2F&key=" + URLEncoder.encode(shown, StandardCharsets.UTF_8);
    return client.send(
        to(server, "/ui/login")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Sec-Fetch-Site", "same-origin")
            .POST(HttpRequest.BodyPublishers.ofString(form))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private int page(TestServer server, String cookie) throws IOException, InterruptedException {
    return client
        .send(
            to(server, "/ui/queues").header("Cookie", cookie).build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  private static HttpRequest.Builder to(TestServer server, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
        .timeout(Duration.ofSeconds(30));
  }

  private static String audit(TestServer server, ApiKeys.Generated key) {
    return server
        .send("GET", "/audit", java.util.Optional.empty(), "Authorization", "Bearer " + key.key())
        .body();
  }

  private static String keys(String name, ApiKeys.Generated key, String role) {
    return "security:\n  keys:\n" + key(name, key, role);
  }

  private static String key(String name, ApiKeys.Generated key, String role) {
    return "    - { name: %s, sha256: %s, roles: [%s] }\n".formatted(name, key.sha256(), role);
  }
}
