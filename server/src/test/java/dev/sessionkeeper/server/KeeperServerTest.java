package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.security.ApiKeys;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeeperServerTest {

  @Test
  void itIsReadyWhenItHasStarted() {
    try (var server = TestServer.start("")) {
      assertThat(server.get("/health/live").status()).isEqualTo(200);
      assertThat(server.get("/health/ready").json().get("checks").get("store").asString())
          .isEqualTo("up");
    }
  }

  @Test
  void closingEndsAWaitingPollWithAnEmptyAnswer() {
    var server = TestServer.start("");
    server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
    var poll =
        CompletableFuture.supplyAsync(
            () -> server.post("/queues/q/leases", "{\"wait\":\"PT60S\"}").status());
    await().until(() -> server.server().running() == 1);
    server.server().close();
    assertThat(poll.join()).isEqualTo(204);
    server.close();
  }

  @Test
  void aReloadTakesOverNewKeysAndIsRefusedAsAWhole() {
    var first = ApiKeys.generate();
    var second = ApiKeys.generate();
    try (var server = TestServer.start(keys(first))) {
      server.rewrite(keys(second) + "surprise: 1");
      var refused = as(server, first, "POST", "/admin/reload");
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.json().get("errors").get(0).get("field").asString()).isEqualTo("surprise");
      assertThat(as(server, first, "GET", "/queues").status()).isEqualTo(200);

      server.rewrite(keys(second));
      assertThat(as(server, first, "POST", "/admin/reload").status()).isEqualTo(200);
      assertThat(as(server, first, "GET", "/queues").status()).isEqualTo(401);
      assertThat(as(server, second, "GET", "/queues").status()).isEqualTo(200);
    }
  }

  private static String keys(ApiKeys.Generated key) {
    return "security: { keys: [ { name: ops, sha256: %s, roles: [admin] } ] }\n"
        .formatted(key.sha256());
  }

  private static TestServer.Reply as(
      TestServer server, ApiKeys.Generated key, String method, String path) {
    return server.send(method, path, Optional.empty(), "Authorization", "Bearer " + key.key());
  }

  @Test
  void aTakenPortIsOneSentenceAndAnExitCode() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var err = new ByteArrayOutputStream();
      int code =
          serve(err, Map.of("server.port", "" + taken.getLocalPort(), "store.url", "memory"));
      assertThat(code).isEqualTo(Serve.EXIT_UNAVAILABLE);
      assertThat(err.toString(StandardCharsets.UTF_8).strip())
          .startsWith("Cannot listen on 127.0.0.1:" + taken.getLocalPort())
          .contains("--port")
          .hasLineCount(1);
    }
  }

  @Test
  void aTakenPortIsFoundBeforeADataFolderIsMade(@TempDir Path folder) throws IOException {
    var data = folder.resolve("data");
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var flags = Map.of("server.port", "" + taken.getLocalPort(), "store.data", data.toString());
      var err = new ByteArrayOutputStream();
      assertThat(serve(err, flags)).isEqualTo(Serve.EXIT_UNAVAILABLE);
      assertThat(data).doesNotExist();
    }
  }

  @Test
  void aWrongConfigurationIsListedAndAnExitCode() {
    var err = new ByteArrayOutputStream();
    int code = serve(err, Map.of("server.port", "-1", "store.url", "nowhere"));
    assertThat(code).isEqualTo(Serve.EXIT_CONFIG);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("--port: server.port must be", "--url: store.url must be")
        .doesNotContain("Exception");
  }

  private static int serve(ByteArrayOutputStream err, Map<String, String> flags) {
    var stream = new PrintStream(err, true, StandardCharsets.UTF_8);
    return new Serve(stream, stream).run(Optional.empty(), Map.of(), flags);
  }
}
