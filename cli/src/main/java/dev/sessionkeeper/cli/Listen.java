package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.EventHandler;
import dev.sessionkeeper.client.EventStream;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.StreamedEvent;
import dev.sessionkeeper.github.GitHubSignature;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Forwards the GitHub events of a server to an address on this machine, for development. */
@Command(
    name = "listen",
    description = {
      "Post every GitHub event that the server receives to a local address, as GitHub would.",
      "After a broken connection it continues with the next event. Without --to it only prints the events."
    })
final class Listen implements Callable<Integer> {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Mixin Remote remote = new Remote();

  @Option(names = "--to", description = "The local address, such as http://localhost:3000/hook")
  @Nullable URI to;

  @Option(
      names = "--github-secret",
      description =
          "Sign with this secret, as GitHub would. Default: GitHub's own signature is forwarded")
  @Nullable String githubSecret;

  @Option(
      names = "--stream",
      defaultValue = "keeper.github",
      description = "Another stream; its events are only printed. Default: ${DEFAULT-VALUE}")
  String stream = "keeper.github";

  @Option(
      names = "--subscriber",
      description = "Store the position under this name, so that a later command resumes there")
  @Nullable String subscriber;

  @Option(names = "--count", hidden = true, description = "End after so many events")
  int count = Integer.MAX_VALUE;

  private final HttpClient local =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

  @Override
  public Integer call() throws InterruptedException {
    var terminal = Terminal.standard();
    var end = new CountDownLatch(1);
    try (var client = remote.open()) {
      var builder = EventStream.of(remote.servers(), stream);
      remote.credential().ifPresent(key -> builder.header("Authorization", "Bearer " + key));
      remote.tls().ifPresent(context -> builder.http(secured(context)));
      if (subscriber != null) {
        builder.subscriber(subscriber);
      }
      try (var open = builder.open(new Forward(client, terminal, end))) {
        end.await();
        return open.hasEnded() ? Exit.FAILED : Exit.OK;
      }
    }
  }

  private static HttpClient secured(SSLContext context) {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(Duration.ofSeconds(10))
        .sslContext(context)
        .build();
  }

  /** Prints and forwards one event after the other, so that the order of the stream is kept. */
  private final class Forward implements EventHandler {
    private final KeeperClient client;
    private final Terminal terminal;
    private final CountDownLatch end;
    private int seen;

    Forward(KeeperClient client, Terminal terminal, CountDownLatch end) {
      this.client = client;
      this.terminal = terminal;
      this.end = end;
    }

    @Override
    public void onEvent(StreamedEvent event) throws InterruptedException {
      var data = JSON.readTree(event.data());
      var verdict = to == null || !stream.equals("keeper.github") ? "" : " -> " + forward(data);
      terminal.print(
          remote.format == Remote.Format.json
              ? event.data()
              : event.id()
                  + " "
                  + event.event()
                  + " "
                  + data.path("sessionId").asString("")
                  + verdict);
      if (++seen >= count) {
        end.countDown();
      }
    }

    private String forward(JsonNode data) throws InterruptedException {
      var id = data.path("eventId").asString();
      var body = client.getBytes("/events/" + id + "/payload");
      var event = client.get("/events/" + id, Map.of());
      var request = HttpRequest.newBuilder(to).timeout(Duration.ofSeconds(30));
      event
          .path("headers")
          .properties()
          .forEach(header -> request.header(header.getKey(), header.getValue().asString()));
      request
          .setHeader("Content-Type", event.path("contentType").asString("application/json"))
          .setHeader("X-GitHub-Event", data.path("type").asString())
          .setHeader("X-GitHub-Delivery", data.path("deliveryId").asString())
          .setHeader("Keeper-Session-Id", data.path("sessionId").asString(""))
          .POST(HttpRequest.BodyPublishers.ofByteArray(body));
      if (githubSecret != null && !githubSecret.isEmpty()) {
        request.setHeader("X-Hub-Signature-256", GitHubSignature.sign(githubSecret, body));
      }
      try {
        return ""
            + local.send(request.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
      } catch (IOException e) {
        return "no answer";
      }
    }

    @Override
    public void onConnected() {
      terminal.note(terminal.dim("Listening to " + stream + " of " + client.server()));
    }

    @Override
    public void onDisconnected(String why, Duration pause) {
      terminal.note(terminal.dim("Not connected (" + why + "); trying again"));
    }

    @Override
    public void onRefused(KeeperException why) {
      terminal.error(String.valueOf(why.getMessage()));
      end.countDown();
    }
  }
}
