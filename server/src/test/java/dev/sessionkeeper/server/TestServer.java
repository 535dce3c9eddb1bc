package dev.sessionkeeper.server;

import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server in this process on a free port, everything in memory, and a client for it. */
public final class TestServer implements AutoCloseable {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final KeeperServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private volatile String yaml;

  private TestServer(String yaml) {
    this.yaml = yaml;
    this.server =
        KeeperServer.start(KeeperConfig.read(sources()), this::sources, TimeSource.system());
  }

  public static TestServer start(String yaml) {
    return new TestServer(yaml);
  }

  private ConfigSources sources() {
    return new ConfigSources(
        "keeper.yaml",
        yaml,
        Path.of("").toAbsolutePath(),
        Map.of("KEEPER_STORE_URL", "memory", "KEEPER_SERVER_PORT", "0"),
        Map.of());
  }

  /** What the next reload reads. */
  public void rewrite(String newYaml) {
    yaml = newYaml;
  }

  public KeeperServer server() {
    return server;
  }

  public int port() {
    return server.port();
  }

  public Reply get(String path) {
    return send("GET", path, Optional.empty());
  }

  public Reply post(String path, String json) {
    return send("POST", path, Optional.of(json));
  }

  public Reply put(String path, String json) {
    return send("PUT", path, Optional.of(json));
  }

  public Reply delete(String path) {
    return send("DELETE", path, Optional.empty());
  }

  /** Sends a JSON body where one is given, with these headers as name and value. */
  public Reply send(String method, String path, Optional<String> json, String... headers) {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .timeout(Duration.ofSeconds(30))
            .method(
                method,
                json.map(HttpRequest.BodyPublishers::ofString)
                    .orElse(HttpRequest.BodyPublishers.noBody()));
    json.ifPresent(body -> request.header("Content-Type", "application/json"));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    try {
      var response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return new Reply(response.statusCode(), response.body(), response);
    } catch (IOException e) {
      throw new AssertionError(method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    server.close();
    client.close();
  }

  /** An answer. */
  public record Reply(int status, String body, HttpResponse<String> response) {
    public JsonNode json() {
      return MAPPER.readTree(body);
    }

    public String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }

    /** The last part of a problem's type; blank when the answer is none. */
    public String problem() {
      return header("Content-Type").equals("application/problem+json")
          ? json().get("type").asString().replaceFirst(".*/", "")
          : "";
    }
  }
}
