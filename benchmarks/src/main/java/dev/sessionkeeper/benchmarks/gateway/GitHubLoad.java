package dev.sessionkeeper.benchmarks.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.github.GitHubSignature;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A server in this process, with deliveries signed and posted like GitHub's. */
final class GitHubLoad implements AutoCloseable {
  private static final String SECRET = "a secret of the benchmark";

  private final KeeperServer server;
  private final int port;
  private final ConcurrentLinkedQueue<PostBytes> idle = new ConcurrentLinkedQueue<>();

  GitHubLoad(Path data, String bots) {
    var sources =
        new ConfigSources(
            "benchmark.yaml",
            "github: { secrets: [\"env:HOOK\"] }\n" + bots,
            data,
            Map.of("HOOK", SECRET, "KEEPER_SERVER_PORT", "0"),
            Map.of("store.data", data.toString()));
    server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
    port = URI.create(server.address()).getPort();
  }

  /** Posts an event of a pull request, of usual length, and waits until it is stored. */
  void deliver(int pull, int step) throws IOException {
    deliver(unique(payload(pull, step, 10_000)));
  }

  /** Makes a payload unique, because the same signed body is routed only once. */
  private static byte[] unique(byte[] payload) {
    var text = new String(payload, UTF_8);
    return (text.substring(0, text.length() - 1) + ",\"run\":\"" + UUID.randomUUID() + "\"}")
        .getBytes(UTF_8);
  }

  void deliver(byte[] body) throws IOException {
    var free = idle.poll();
    var connection = free == null ? new PostBytes(port) : free;
    int status =
        connection.post(
            "/webhooks/github",
            Map.of(
                "Content-Type",
                "application/json",
                "X-GitHub-Event",
                "pull_request",
                "X-GitHub-Delivery",
                UUID.randomUUID().toString(),
                "X-Hub-Signature-256",
                GitHubSignature.sign(SECRET, body)),
            body);
    if (status != 202) {
      throw new IllegalStateException("The delivery was answered with " + status);
    }
    idle.add(connection);
  }

  /**
   * Returns a payload similar to GitHub's: mostly addresses, some numbers and hashes. It compresses
   * like the public examples, to a fifth.
   */
  static byte[] payload(int pull, int step, int size) {
    var text = new StringBuilder(size + 400);
    text.append("{\"action\":\"synchronize\",\"number\":").append(pull);
    text.append(",\"step\":").append(step);
    text.append(",\"pull_request\":{\"number\":").append(pull);
    text.append("},\"repository\":{\"id\":42,\"name\":\"app\",\"full_name\":\"acme/app\",");
    text.append("\"owner\":{\"login\":\"acme\"}},\"links\":[");
    long noise = pull * 31L + step;
    for (int i = 0; text.length() < size; i++) {
      noise = noise * 6364136223846793005L + 1442695040888963407L;
      text.append(i == 0 ? "{" : ",{");
      text.append("\"node_id\":\"MDExOlB1bGxSZXF1ZXN0").append(noise >>> 40);
      text.append("\",\"url\":\"https://api.github.com/repos/acme/app/pulls/").append(pull);
      text.append("/commits/").append(Long.toHexString(noise));
      text.append("\",\"html_url\":\"https://github.com/acme/app/pull/").append(pull);
      text.append("\",\"events_url\":\"https://api.github.com/users/ann/events{/privacy}\"");
      text.append(",\"received_events_url\":\"https://api.github.com/users/ann/received_events\"");
      text.append(",\"type\":\"User\",\"site_admin\":false}");
    }
    return text.append("]}").toString().getBytes(UTF_8);
  }

  @Override
  public void close() {
    server.close();
    idle.forEach(PostBytes::close);
  }
}
