package dev.sessionkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs calls against servers that answer as the test says. */
class KeeperClientTest {
  private static final int ROUNDS = 20;

  private final List<HttpServer> servers = new ArrayList<>();
  private final List<String> asked = new CopyOnWriteArrayList<>();

  private interface Answer {
    void to(HttpExchange exchange) throws IOException;
  }

  private URI server(String name, Answer answer) throws IOException {
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/",
        exchange -> {
          asked.add(name);
          exchange.getRequestBody().readAllBytes();
          answer.to(exchange);
        });
    server.start();
    servers.add(server);
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  @AfterEach
  void stop() {
    servers.forEach(server -> server.stop(0));
  }

  private static void good(HttpExchange exchange) throws IOException {
    say(exchange, 200, "{\"fine\":true}");
  }

  private static Answer problem(int status, String slug) {
    return exchange -> say(exchange, status, "{\"type\":\"https://x/" + slug + "\"}");
  }

  private static void say(HttpExchange exchange, int status, String json) throws IOException {
    var bytes = json.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  /** Closes the connection without an answer, after the request has arrived. */
  private static void hangUp(HttpExchange exchange) {
    exchange.close();
  }

  private static URI nobody() throws IOException {
    try (var taken = new java.net.ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return URI.create("http://127.0.0.1:" + taken.getLocalPort());
    }
  }

  /** A client begins at any of its servers, so each case is repeated until both have been first. */
  private void often(List<URI> all, java.util.function.Consumer<KeeperClient> call) {
    for (int i = 0; i < ROUNDS; i++) {
      try (var client = KeeperClient.of(all)) {
        call.accept(client);
      }
    }
  }

  private static void post(KeeperClient client) {
    client.post("/x", QueueClient.object());
  }

  @Test
  void aServerThatIsNotThereIsPassedOver() throws IOException {
    often(List.of(nobody(), server("b", KeeperClientTest::good)), KeeperClientTest::post);
    assertThat(asked).hasSize(ROUNDS);
  }

  @Test
  void aServerThatShutsDownIsPassedOverAndLeft() throws IOException {
    var leaving = server("leaving", problem(503, "unavailable"));
    var staying = server("staying", KeeperClientTest::good);
    try (var client = KeeperClient.of(List.of(leaving, staying))) {
      post(client);
      post(client);
      assertThat(client.server()).isEqualTo(staying);
    }
    assertThat(asked.stream().filter("staying"::equals)).hasSize(2);
    assertThat(asked.stream().filter("leaving"::equals).count()).isLessThan(2);
  }

  @Test
  void aWriteThatMayHaveTakenEffectIsNotRepeated() throws IOException {
    var cut = server("cut", KeeperClientTest::hangUp);
    var alsoCut = server("cut", KeeperClientTest::hangUp);
    often(
        List.of(cut, alsoCut),
        client ->
            assertThatThrownBy(() -> post(client))
                .isInstanceOf(KeeperException.OutcomeUnknown.class)
                .hasMessageContaining("POST /x"));
    assertThat(asked).hasSize(ROUNDS);
  }

  @Test
  void aRefusalThatSaysTheOutcomeIsUnknownIsNotRepeated() throws IOException {
    var one = server("one", problem(503, "outcome-unknown"));
    var two = server("two", problem(503, "outcome-unknown"));
    often(
        List.of(one, two),
        client ->
            assertThatThrownBy(() -> post(client))
                .isInstanceOf(ProblemException.class)
                .matches(e -> ((ProblemException) e).is("outcome-unknown")));
    assertThat(asked).hasSize(ROUNDS);
  }

  @Test
  void aReadIsAskedForElsewhere() throws IOException {
    var cut = server("cut", KeeperClientTest::hangUp);
    var fine = server("fine", KeeperClientTest::good);
    often(
        List.of(cut, fine),
        client -> assertThat(client.get("/x", Map.of()).path("fine").asBoolean()).isTrue());
  }

  @Test
  void whenNobodyAnswersTheLastOneIsNamed() throws IOException {
    var all = List.of(nobody(), nobody());
    often(
        all,
        client ->
            assertThatThrownBy(() -> post(client))
                .isInstanceOf(KeeperException.Unavailable.class)
                .hasMessageContaining("127.0.0.1"));
  }

  @Test
  void anAddressWithoutSchemeIsRefused() {
    assertThatThrownBy(() -> KeeperClient.of(URI.create("localhost:8080")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("http://");
  }
}
