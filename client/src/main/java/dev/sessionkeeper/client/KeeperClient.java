package dev.sessionkeeper.client;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Talks to a Sessionkeeper server. Safe for use by many threads; calls block.
 *
 * <p>A refusal of the server is a {@link ProblemException}; no answer is {@link
 * KeeperException.Unavailable}. A call is never repeated by itself: whether repeating is safe is
 * the caller's to know.
 */
public final class KeeperClient implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  /** Longer than the longest wait that the server takes. */
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(75);

  private final URI base;
  private final Optional<String> apiKey;
  private final HttpClient http;

  private KeeperClient(URI base, Optional<String> apiKey) {
    this.base = base;
    this.apiKey = apiKey;
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();
  }

  /** A client of the server at this address, such as {@code http://127.0.0.1:8080}. */
  public static KeeperClient of(URI server) {
    if (server.getScheme() == null || !server.getScheme().matches("https?")) {
      throw new IllegalArgumentException(
          "A server's address begins with http:// or https://, was " + server);
    }
    return new KeeperClient(server, Optional.empty());
  }

  /** The same with a credential. */
  public KeeperClient withApiKey(String key) {
    return new KeeperClient(base, Optional.of(key));
  }

  public URI server() {
    return base;
  }

  /** The calls of one queue. */
  public QueueClient queue(String name) {
    return new QueueClient(this, name);
  }

  public JsonNode get(String path, Map<String, String> query) {
    return document(exchange(request(path, query).GET().build()));
  }

  public JsonNode put(String path, JsonNode body) {
    return document(exchange(withBody(path, "PUT", body)));
  }

  public JsonNode post(String path, JsonNode body) {
    return document(exchange(withBody(path, "POST", body)));
  }

  public JsonNode delete(String path) {
    return document(exchange(request(path, Map.of()).DELETE().build()));
  }

  /** Sends bytes with headers as they are, for webhooks. */
  public JsonNode postBytes(String path, byte[] body, Map<String, String> headers) {
    var builder = request(path, Map.of()).POST(HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(builder::header);
    return document(exchange(builder.build()));
  }

  /** Bytes as the server keeps them, such as a webhook's payload. */
  public byte[] getBytes(String path) {
    return exchange(request(path, Map.of()).GET().build()).body();
  }

  private HttpRequest withBody(String path, String method, JsonNode body) {
    return request(path, Map.of())
        .header("Content-Type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
        .build();
  }

  private HttpRequest.Builder request(String path, Map<String, String> query) {
    var builder =
        HttpRequest.newBuilder(uri(path, query)).timeout(CALL_TIMEOUT).header("Accept", "*/*");
    authorize(builder);
    return builder;
  }

  private void authorize(HttpRequest.Builder builder) {
    apiKey.ifPresent(key -> builder.header("Authorization", "Bearer " + key));
  }

  private URI uri(String path, Map<String, String> query) {
    var asked =
        query.entrySet().stream()
            .map(each -> encoded(each.getKey()) + "=" + encoded(each.getValue()))
            .collect(Collectors.joining("&"));
    return base.resolve(asked.isEmpty() ? path : path + "?" + asked);
  }

  private HttpResponse<byte[]> exchange(HttpRequest request) {
    var response = call(request, HttpResponse.BodyHandlers.ofByteArray());
    if (response.statusCode() >= 400) {
      throw ProblemException.of(response.statusCode(), response.body());
    }
    return response;
  }

  private <T> HttpResponse<T> call(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
    try {
      return http.send(request, handler);
    } catch (IOException e) {
      throw new KeeperException.Unavailable("The server at " + base, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KeeperException.Unavailable("The server at " + base + " (interrupted)", e);
    }
  }

  private static JsonNode document(HttpResponse<byte[]> response) {
    if (response.body().length == 0) {
      return JSON.missingNode();
    }
    try {
      return JSON.readTree(response.body());
    } catch (JacksonException e) {
      throw new KeeperException.Rejected("The server's answer is not JSON", e);
    }
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  static JsonMapper json() {
    return JSON;
  }

  @Override
  public void close() {
    http.close();
  }
}
