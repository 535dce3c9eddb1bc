package dev.sessionkeeper.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.github.GitHubSignature;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;

/** A server in this process, and deliveries as GitHub signs and posts them. */
final class GitHubLoad implements AutoCloseable {
  private static final String SECRET = "a secret of the benchmark";

  private final KeeperServer server;
  private final HttpClient client = HttpClient.newHttpClient();

  GitHubLoad(Path data, String bots) {
    var sources =
        new ConfigSources(
            "benchmark.yaml",
            "github: { secrets: [\"env:HOOK\"] }\n" + bots,
            data,
            Map.of("HOOK", SECRET, "KEEPER_SERVER_PORT", "0"),
            Map.of("store.data", data.toString()));
    server = KeeperServer.start(KeeperConfig.read(sources), () -> sources, TimeSource.system());
  }

  /** Posts an event of a pull request, as long as a usual one, and waits until it is stored. */
  void deliver(int pull, int step) throws Exception {
    deliver(payload(pull, step, 10_000));
  }

  void deliver(byte[] body) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(server.address() + "/webhooks/github"))
            .header("Content-Type", "application/json")
            .header("X-GitHub-Event", "pull_request")
            .header("X-GitHub-Delivery", UUID.randomUUID().toString())
            .header("X-Hub-Signature-256", GitHubSignature.sign(SECRET, body))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 202) {
      throw new IllegalStateException(answer.statusCode() + " " + answer.body());
    }
  }

  /** Text that does not compress to nothing. */
  static byte[] payload(int pull, int step, int size) {
    var text = new StringBuilder(size + 200);
    text.append("{\"action\":\"synchronize\",\"number\":").append(pull);
    text.append(",\"step\":").append(step);
    text.append(",\"pull_request\":{\"number\":").append(pull);
    text.append("},\"repository\":{\"id\":42,\"name\":\"app\",\"full_name\":\"acme/app\",");
    text.append("\"owner\":{\"login\":\"acme\"}},\"text\":\"");
    long noise = pull * 31L + step;
    while (text.length() < size) {
      noise = noise * 6364136223846793005L + 1442695040888963407L;
      text.append(Long.toHexString(noise));
    }
    return text.append("\"}").toString().getBytes(UTF_8);
  }

  @Override
  public void close() {
    server.close();
    client.close();
  }
}
