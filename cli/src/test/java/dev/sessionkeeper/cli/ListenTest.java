package dev.sessionkeeper.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.cli.demo.TemporaryServer;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.github.GitHubSignature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
@Tag("slow")
class ListenTest {
  private static final String BODY =
      "{ \"action\":\"opened\",\t\"step\":%d, \"repository\": {\"full_name\":\"acme/app\"} }";

  private record Post(Headers headers, byte[] body) {
    boolean isSignedBy(String secret) {
      return GitHubSignature.of(List.of(secret))
          .verify(body, headers.getFirst("X-Hub-Signature-256"));
    }
  }

  /** Listens for one event, delivers until one has arrived, and returns the post. */
  private static Post listened(TemporaryServer server, String... more) throws Exception {
    var arrived = new CompletableFuture<Post>();
    var local = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    local.createContext(
        "/",
        exchange -> {
          arrived.complete(
              new Post(exchange.getRequestHeaders(), exchange.getRequestBody().readAllBytes()));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    local.start();
    try {
      var to = "http://127.0.0.1:" + local.getAddress().getPort() + "/hook";
      var arguments = new ArrayList<>(List.of("listen", "--to", to, "--count", "1"));
      arguments.addAll(List.of("--url", server.address().toString()));
      arguments.addAll(List.of(more));
      var listening =
          CompletableFuture.supplyAsync(
              () -> Keeper.run(arguments.toArray(String[]::new)), Thread::startVirtualThread);
      // Events delivered before the stream is open do not reach this listener.
      for (int step = 0; !arrived.isDone() && !listening.isDone(); step++) {
        deliver(server, (BODY.formatted(step) + " ".repeat(more.length)).getBytes(UTF_8));
        CompletableFuture.anyOf(arrived, waited()).join();
      }
      assertThat(listening.get(90, TimeUnit.SECONDS)).isZero();
      return arrived.join();
    } finally {
      local.stop(0);
    }
  }

  private static CompletableFuture<?> waited() {
    return new CompletableFuture<>().completeOnTimeout("", 300, TimeUnit.MILLISECONDS);
  }

  private static void deliver(TemporaryServer server, byte[] body) {
    try (var client = KeeperClient.of(server.address())) {
      client.postBytes(
          "/webhooks/github",
          body,
          Map.of(
              "Content-Type",
              "application/json",
              "X-GitHub-Event",
              "issues",
              "X-GitHub-Delivery",
              UUID.randomUUID().toString(),
              "X-GitHub-Hook-ID",
              "77",
              "X-Hub-Signature-256",
              GitHubSignature.sign(server.secret(), body)));
    }
  }

  @Test
  void whatGitHubSentIsPostedWithItsHeadersAndItsSignatureOrWithOneOfYourOwn() throws Exception {
    try (var server = TemporaryServer.start()) {
      var asSent = listened(server);
      assertThat(new String(asSent.body(), UTF_8))
          .startsWith("{ \"action\":\"opened\",\t\"step\":");
      assertThat(asSent.isSignedBy(server.secret())).isTrue();
      assertThat(asSent.headers().getFirst("X-GitHub-Hook-ID")).isEqualTo("77");
      assertThat(asSent.headers().getFirst("X-GitHub-Event")).isEqualTo("issues");

      assertThat(listened(server, "--github-secret", "mine").isSignedBy("mine")).isTrue();
    }
  }
}
