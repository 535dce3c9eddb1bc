package dev.sessionkeeper.server;

import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.telemetry.Telemetry;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server in this process on a free port, everything in memory, and a client for it. */
public final class TestServer implements AutoCloseable {
  static {
    // Applies to all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final Map<String, String> MEMORY = Map.of("KEEPER_STORE_URL", "memory");

  private final KeeperServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Map<String, String> environment;
  private volatile String yaml;

  private TestServer(
      String yaml,
      Map<String, String> environment,
      Optional<QueueProvider> queues,
      Telemetry telemetry,
      TimeSource time) {
    this.yaml = yaml;
    this.environment = new HashMap<>(environment);
    this.environment.put("KEEPER_SERVER_PORT", "0");
    var config = ReadConfig.from(sources());
    this.server =
        KeeperServer.start(
            config,
            this::sources,
            time,
            () ->
                queues.isEmpty()
                    ? OpenEngine.open(config, time)
                    : new QueuesElsewhere(new MemoryEngine(time), queues.get()),
            telemetry);
  }

  public static TestServer start(String yaml) {
    return start(yaml, MEMORY);
  }

  /** Starts a server on the store that this environment names. */
  public static TestServer start(String yaml, Map<String, String> environment) {
    return new TestServer(
        yaml,
        environment,
        Optional.empty(),
        Telemetry.of(OpenTelemetry.noop()),
        TimeSource.system());
  }

  /** Starts a server on the store that this environment names, with this clock. */
  public static TestServer start(String yaml, Map<String, String> environment, TimeSource time) {
    return new TestServer(
        yaml, environment, Optional.empty(), Telemetry.of(OpenTelemetry.noop()), time);
  }

  /** Starts a server with this clock. */
  public static TestServer start(String yaml, TimeSource time) {
    return new TestServer(yaml, MEMORY, Optional.empty(), Telemetry.of(OpenTelemetry.noop()), time);
  }

  /** Starts a server with the queues of this provider. */
  public static TestServer over(QueueProvider queues) {
    return new TestServer(
        "", MEMORY, Optional.of(queues), Telemetry.of(OpenTelemetry.noop()), TimeSource.system());
  }

  /** Starts a server that creates spans. */
  public static TestServer tracing(OpenTelemetry telemetry) {
    return new TestServer(
        "", MEMORY, Optional.empty(), Telemetry.of(telemetry), TimeSource.system());
  }

  private ConfigSources sources() {
    return new ConfigSources(
        "keeper.yaml", yaml, Path.of("").toAbsolutePath(), environment, Map.of());
  }

  /** Sets the configuration that the next reload reads. */
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

  /**
   * Sends a request, with a JSON body if given, and with headers as alternating names and values.
   */
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
      var response = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      try (var in = response.body()) {
        return new Reply(response.statusCode(), textOf(response, in), response.headers());
      }
    } catch (IOException e) {
      throw new AssertionError(method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Reads the body of a response; of an event stream, which does not end, only the head. */
  private static String textOf(HttpResponse<?> response, InputStream in) throws IOException {
    var type = response.headers().firstValue("Content-Type").orElse("");
    return type.startsWith("text/event-stream")
        ? ""
        : new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    client.shutdown();
    server.close();
    client.close();
  }

  /** An answer. */
  public record Reply(int status, String body, HttpHeaders headers) {
    public JsonNode json() {
      return MAPPER.readTree(body);
    }

    public String header(String name) {
      return headers.firstValue(name).orElse("");
    }

    /** Returns the last part of a problem's type; blank if the answer is no problem. */
    public String problem() {
      return header("Content-Type").equals("application/problem+json")
          ? json().get("type").asString().replaceFirst(".*/", "")
          : "";
    }
  }
}
