package dev.sessionkeeper.server.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.security.ApiKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the example page in Chromium, on another origin than the server. */
class BrowserTest {
  private static final Path CHROMIUM = Path.of(System.getProperty("browser", "/usr/bin/chromium"));
  private static final Path PAGE = Path.of("../examples/browser").toAbsolutePath().normalize();
  private static final ApiKeys.Generated KEY = ApiKeys.generate();

  @TempDir Path profile;
  private final List<Process> browsers = new ArrayList<>();
  private final AtomicInteger tokens = new AtomicInteger();
  private HttpServer site;
  private TestServer server;

  @BeforeEach
  void start() throws IOException {
    Assumptions.assumeTrue(
        Files.isExecutable(CHROMIUM), "Chromium is not installed: the page is not tested here");
    site = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server =
        TestServer.start(
            """
            cors: { origins: ["%s"] }
            security:
              keys: [ { name: backend, sha256: %s, roles: [admin] } ]
            """
                .formatted(origin(), KEY.sha256()));
    site.createContext("/", this::serve);
    site.start();
    ask("PUT", "/streams/prices/subscribers/browser", "{\"from\":\"start\"}");
  }

  @AfterEach
  void stop() {
    browsers.forEach(BrowserTest::end);
    if (server != null) {
      site.stop(0);
      server.close();
    }
  }

  private static void end(Process browser) {
    browser.descendants().forEach(ProcessHandle::destroyForcibly);
    browser.destroyForcibly();
  }

  private String origin() {
    return "http://localhost:" + site.getAddress().getPort();
  }

  private void serve(HttpExchange exchange) throws IOException {
    var path = exchange.getRequestURI().getPath();
    switch (path) {
      case "/token" -> answer(exchange, "application/json", token());
      case "/image.html" ->
          answer(
              exchange,
              "text/html",
              "<img src='%s/streams/prices/events?subscriber=browser&lastEventId=5&token=%s'>"
                  .formatted(address(), grant()));
      case "/", "/index.html" ->
          answer(exchange, "text/html", Files.readString(PAGE.resolve("index.html")));
      case "/stream.js" ->
          answer(exchange, "text/javascript", Files.readString(PAGE.resolve("stream.js")));
      default -> exchange.sendResponseHeaders(404, -1);
    }
    exchange.close();
  }

  private static void answer(HttpExchange exchange, String type, String text) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private String address() {
    return "http://127.0.0.1:" + server.port();
  }

  private String grant() {
    tokens.incrementAndGet();
    return ask("POST", "/streams/prices/tokens?subscriber=browser", "{\"ttl\":\"PT30S\"}")
        .json()
        .get("token")
        .asString();
  }

  /** Returns a token as the page's backend would. */
  private String token() {
    return "{\"server\":\"%s\",\"stream\":\"prices\",\"subscriber\":\"browser\",\"token\":\"%s\"}"
        .formatted(address(), grant());
  }

  private TestServer.Reply ask(String method, String path, String json) {
    var reply =
        server.send(
            method,
            path,
            Optional.of(json).filter(text -> !text.isEmpty()),
            "Authorization",
            "Bearer " + KEY.key());
    assertThat(reply.status()).as(reply.body()).isBetween(200, 299);
    return reply;
  }

  private void publish(int count) {
    for (int i = 0; i < count; i++) {
      ask("POST", "/streams/prices/events", "{\"data\":{\"price\":\"<b>" + i + "</b>\"}}");
    }
  }

  private void open(String path) throws IOException {
    browsers.add(
        Tools.start(
            profile,
            Map.of(),
            Optional.empty(),
            List.of(
                CHROMIUM.toString(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--user-data-dir=" + profile.resolve("p" + browsers.size()),
                origin() + path)));
  }

  private long position() {
    return ask("GET", "/streams/prices/subscribers", "")
        .json()
        .at("/subscribers/0/position")
        .asLong();
  }

  @Test
  void thePageShowsAndAcknowledgesEventsAcrossOrigins() throws Exception {
    publish(5);
    open("/index.html");
    await().atMost(Duration.ofSeconds(60)).until(() -> position() == 5);
    publish(3);
    await().until(() -> position() == 8);
    assertThat(tokens.get()).isPositive();

    // A closed page resumes behind the last event it had acknowledged.
    end(browsers.getFirst());
    publish(2);
    assertThat(position()).isEqualTo(8);
    open("/index.html");
    await().atMost(Duration.ofSeconds(60)).until(() -> position() == 10);
  }

  @Test
  void anImageMovesNothingEvenWithAToken() throws Exception {
    publish(5);
    open("/image.html");
    await().atMost(Duration.ofSeconds(60)).until(() -> tokens.get() > 0);
    // The page opened after the image has advanced, so the image was requested before.
    await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
    assertThat(position()).isZero();
  }
}
