package dev.sessionkeeper.client;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls a Sessionkeeper server, or several that share one store. Safe for use by many threads;
 * calls block.
 *
 * <p>A refusal of the server is a {@link ProblemException}; no answer is {@link
 * KeeperException.Unavailable}, or {@link KeeperException.OutcomeUnknown} if the call may have
 * taken effect. With several servers, a call goes to the next one if it surely had no effect: no
 * server listened, the server said so, or the call only reads. Otherwise a call is never repeated,
 * because only the caller knows whether that is safe.
 */
public final class KeeperClient implements AutoCloseable {
  // Numbers stay as the server wrote them, because a double would change amounts of money.
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  /** Longer than the server's longest wait. */
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(75);

  /**
   * The problems by which a server says that nothing was changed and another server may succeed.
   */
  private static final Set<String> ELSEWHERE = Set.of("unavailable", "overloaded");

  private final Servers servers;
  private final Optional<String> apiKey;
  private final Optional<String> reason;
  private final HttpClient http;

  private KeeperClient(
      Servers servers, Optional<String> apiKey, Optional<String> reason, HttpClient http) {
    this.servers = servers;
    this.apiKey = apiKey;
    this.reason = reason;
    this.http = http;
  }

  /** Returns a client of the server at this address, such as {@code http://127.0.0.1:8080}. */
  public static KeeperClient of(URI server) {
    return of(List.of(server));
  }

  /**
   * Returns a client of servers that share one store; it uses one of them while that server
   * answers.
   */
  public static KeeperClient of(List<URI> servers) {
    return of(servers, http());
  }

  /**
   * Returns the same client over TLS with other certificates: an authority that Java does not know,
   * or a client certificate.
   */
  public static KeeperClient of(List<URI> servers, SSLContext tls) {
    return of(servers, http().sslContext(tls));
  }

  private static KeeperClient of(List<URI> servers, HttpClient.Builder http) {
    return new KeeperClient(new Servers(servers), Optional.empty(), Optional.empty(), http.build());
  }

  private static HttpClient.Builder http() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(CONNECT_TIMEOUT);
  }

  /** Returns the same client with a credential. Closing one of the two closes both. */
  public KeeperClient withApiKey(String key) {
    return new KeeperClient(servers, Optional.of(key), reason, http);
  }

  /**
   * Returns the same client that sends a reason with each call, for the audit log. Closing one of
   * the two closes both.
   */
  public KeeperClient withReason(String why) {
    return new KeeperClient(servers, apiKey, Optional.of(why), http);
  }

  /** Returns the server of the next call. */
  public URI server() {
    return servers.at(servers.turn());
  }

  /** Returns all servers, in the given order. */
  public List<URI> servers() {
    return servers.all();
  }

  /** Returns the calls of one queue. */
  public QueueClient queue(String name) {
    return new QueueClient(this, name);
  }

  /** Returns the calls of the session registry. */
  public RegistryClient registry() {
    return new RegistryClient(this);
  }

  /** Returns the calls of metered usage. */
  public UsageClient usage() {
    return new UsageClient(this);
  }

  /** Returns the calls of scheduled jobs. */
  public JobsClient jobs() {
    return new JobsClient(this);
  }

  public JsonNode get(String path, Map<String, String> query) {
    return document(exchange(get(path + asked(query))));
  }

  public JsonNode put(String path, JsonNode body) {
    return document(exchange(withBody(path, "PUT", body)));
  }

  public JsonNode post(String path, JsonNode body) {
    return document(exchange(withBody(path, "POST", body)));
  }

  public JsonNode delete(String path) {
    return document(exchange(new Call("DELETE", path, HttpRequest.Builder::DELETE)));
  }

  /** Posts bytes with headers, unchanged, for webhooks. */
  public JsonNode postBytes(String path, byte[] body, Map<String, String> headers) {
    return document(
        exchange(
            new Call(
                "POST",
                path,
                request -> {
                  headers.forEach(request::header);
                  return request.POST(HttpRequest.BodyPublishers.ofByteArray(body));
                })));
  }

  /**
   * Makes any call, with bytes and headers unchanged in both directions.
   *
   * @param body no body if empty
   */
  public RawAnswer call(
      String method, String path, Map<String, String> headers, Optional<byte[]> body) {
    var response =
        exchange(
            new Call(
                method,
                path,
                request -> {
                  headers.forEach(request::header);
                  return request.method(
                      method,
                      body.map(HttpRequest.BodyPublishers::ofByteArray)
                          .orElseGet(HttpRequest.BodyPublishers::noBody));
                }));
    return new RawAnswer(
        response.statusCode(), response.headers().firstValue("ETag"), response.body());
  }

  /** The unchanged answer of a server. */
  public record RawAnswer(int status, Optional<String> etag, byte[] body) {}

  /** Returns unchanged bytes, such as a webhook's payload. */
  public byte[] getBytes(String path) {
    return exchange(get(path)).body();
  }

  /** A request to one of the servers. */
  private record Call(String method, String path, UnaryOperator<HttpRequest.Builder> fill) {
    boolean isRead() {
      return method.equals("GET");
    }
  }

  private static Call get(String path) {
    return new Call("GET", path, HttpRequest.Builder::GET);
  }

  private static Call withBody(String path, String method, JsonNode body) {
    var bytes = JSON.writeValueAsBytes(body);
    return new Call(
        method,
        path,
        request ->
            request
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofByteArray(bytes)));
  }

  private static String asked(Map<String, String> query) {
    return query.entrySet().stream()
        .map(each -> encoded(each.getKey()) + "=" + encoded(each.getValue()))
        .collect(Collectors.joining("&", query.isEmpty() ? "" : "?", ""));
  }

  /**
   * Sends a request to one server after the other, each once. Continues only after failures in
   * which the request surely had no effect.
   */
  private HttpResponse<byte[]> exchange(Call call) {
    int first = servers.turn();
    for (int turn = first; ; turn++) {
      boolean isLast = turn - first == servers.count() - 1;
      try {
        var response = http.send(request(call, servers.at(turn)), BodyHandlers.ofByteArray());
        if (response.statusCode() < 400) {
          return response;
        }
        var problem = ProblemException.of(response.statusCode(), response.body());
        if (isLast || !ELSEWHERE.contains(problem.type())) {
          throw problem;
        }
      } catch (IOException e) {
        refuseIfUnknown(call, servers.at(turn), e);
        if (isLast) {
          servers.leave(turn);
          throw new KeeperException.Unavailable("The server at " + servers.at(turn), e);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new KeeperException.OutcomeUnknown("The interrupted call to " + servers.at(turn), e);
      }
      servers.leave(turn);
    }
  }

  private static void refuseIfUnknown(Call call, URI server, IOException failure) {
    boolean isUnheard =
        failure instanceof ConnectException
            || failure instanceof HttpConnectTimeoutException
            || hasFailedHandshake(failure);
    if (!isUnheard && !call.isRead()) {
      throw new KeeperException.OutcomeUnknown(
          "The call " + call.method() + " " + call.path() + " to " + server, failure);
    }
  }

  /**
   * Returns whether the TLS handshake failed, so nothing was sent. A server without TLS fails the
   * handshake in its own way.
   */
  private static boolean hasFailedHandshake(IOException failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof SSLHandshakeException
          || (at instanceof SSLException
              && String.valueOf(at.getMessage()).contains("nrecognized SSL message"))) {
        return true;
      }
    }
    return false;
  }

  private HttpRequest request(Call call, URI server) {
    var request =
        HttpRequest.newBuilder(server.resolve(call.path()))
            .timeout(CALL_TIMEOUT)
            .header("Accept", "*/*");
    apiKey.ifPresent(key -> request.header("Authorization", "Bearer " + key));
    reason.ifPresent(why -> request.header("Keeper-Reason", encoded(why)));
    return call.fill().apply(request).build();
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

  /** Encodes a text as a path segment or a query value. */
  public static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Converts an answer to a record; members unknown to the record are ignored. */
  static <T> T read(JsonNode answer, Class<T> type) {
    try {
      return JSON.treeToValue(answer, type);
    } catch (JacksonException e) {
      throw new KeeperException.Rejected(
          "The server's answer is no " + type.getSimpleName() + " of this client", e);
    }
  }

  static JsonMapper json() {
    return JSON;
  }

  @Override
  public void close() {
    http.close();
  }
}
