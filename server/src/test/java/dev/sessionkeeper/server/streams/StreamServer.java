package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.HttpOptions;
import dev.sessionkeeper.server.http.HttpServer;
import dev.sessionkeeper.server.http.RequestListener;
import dev.sessionkeeper.server.http.RouteTable;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.awaitility.Awaitility;

/** Streams over HTTP on a free port, for a test. */
final class StreamServer implements AutoCloseable {
  static {
    // Applies to all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final MeterRegistry meters;
  private final StreamsFeature feature;
  private final Runnable afterClose;
  private final HttpServer http;

  private StreamServer(
      StreamsFeature feature, MeterRegistry meters, HttpOptions options, Runnable afterClose)
      throws IOException {
    this.feature = feature;
    this.afterClose = afterClose;
    this.meters = meters;
    this.http =
        HttpServer.start(
            options,
            new RouteTable(feature.routes()),
            Gate.open(),
            RequestListener.none(),
            TimeSource.system());
  }

  static StreamServer inMemory(StreamsConfig config) throws IOException {
    return inMemory(config, options(0));
  }

  /** Starts a server that has so much memory for streams. */
  static StreamServer inMemory(StreamsConfig config, long bufferedBytes) throws IOException {
    return inMemory(config, options(0).withBufferedBytes(bufferedBytes));
  }

  private static StreamServer inMemory(StreamsConfig config, HttpOptions options)
      throws IOException {
    var meters = new SimpleMeterRegistry();
    return new StreamServer(
        StreamsFeature.inMemory(config, meters, TimeSource.system()), meters, options, () -> {});
  }

  private static HttpOptions options(int port) {
    return HttpOptions.of("127.0.0.1", port);
  }

  static StreamServer in(Database database, StreamsConfig config, int port) throws IOException {
    var meters = new SimpleMeterRegistry();
    var notices = Notices.over(database.source(), database.source());
    return new StreamServer(
        StreamsFeature.in(database, Optional.of(notices), config, meters, TimeSource.system()),
        meters,
        options(port),
        notices::close);
  }

  int port() {
    return http.port();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + port());
  }

  HttpResponse<String> post(String stream, String body) throws Exception {
    return HTTP.send(
        HttpRequest.newBuilder(address().resolve("/streams/" + stream + "/events"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .timeout(Duration.ofSeconds(60))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  Answer get(String pathAndQuery, String... headers) throws Exception {
    var request = HttpRequest.newBuilder(address().resolve(pathAndQuery)).GET();
    if (headers.length > 0) {
      request.headers(headers);
    }
    var response =
        HTTP.send(
            request.timeout(Duration.ofSeconds(60)).build(),
            HttpResponse.BodyHandlers.ofInputStream());
    var type = response.headers().firstValue("Content-Type").orElse("");
    try (var in = response.body()) {
      // An unexpected event stream must fail the test, not hang it.
      return new Answer(
          response.statusCode(),
          type.startsWith("text/event-stream")
              ? ""
              : new String(in.readAllBytes(), StandardCharsets.UTF_8),
          response.headers());
    }
  }

  /** The answer to a GET. */
  record Answer(int statusCode, String body, HttpHeaders headers) {}

  /** Publishes a range of numbers, each as an event. */
  void publish(String stream, int from, int to) throws Exception {
    for (int n = from; n <= to; n++) {
      var answer = post(stream, "{\"event\":\"tick\",\"data\":{\"n\":" + n + "}}");
      if (answer.statusCode() != 201) {
        throw new IllegalStateException("Not published: " + answer.body());
      }
    }
  }

  /** Returns how many readers are connected. */
  long readers() {
    return (long) meters.get("keeper.sse.connections").gauge().value();
  }

  /** Returns how much memory bodies and answers take. */
  long bufferedBytes() {
    return http.bufferedBytes();
  }

  /** Closes as the server does: ends the waits, lets the readers end, then closes the stores. */
  @Override
  public void close() {
    try {
      http.drain(Duration.ofSeconds(20));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    http.close();
    feature.close();
    afterClose.run();
  }
}
