package dev.sessionkeeper.client;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads a stream of a server without gaps and repeats, over any number of connections.
 *
 * <p>It remembers the last handled event, reconnects with growing pauses, and drops events that
 * were handled already. One virtual thread per stream; the handler runs on it.
 */
public final class EventStream implements AutoCloseable {
  private final ReadEvents reading;
  private final Thread thread;

  private EventStream(ReadEvents reading) {
    this.reading = reading;
    this.thread = Thread.ofVirtual().name("event-stream").start(reading);
  }

  /** Builds a stream of the server at this address, such as {@code http://127.0.0.1:8080}. */
  public static Builder of(URI server, String stream) {
    return of(List.of(server), stream);
  }

  /**
   * Builds a stream of servers that share one store; if one closes the connection, the next is
   * asked.
   */
  public static Builder of(List<URI> servers, String stream) {
    return new Builder(new Servers(servers), stream);
  }

  /** Returns the last handled event; empty before the first one. */
  public OptionalLong lastEventId() {
    return reading.lastEventId();
  }

  /** Returns whether the server has refused the stream for good, or the stream was closed. */
  public boolean hasEnded() {
    return !thread.isAlive();
  }

  /** Closes the connection and waits for a running handler, which is not interrupted. */
  @Override
  public void close() {
    reading.close();
    try {
      if (!Thread.currentThread().equals(thread)) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The options of a stream. */
  public static final class Builder {
    private final Servers servers;
    private final String stream;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private Optional<String> subscriber = Optional.empty();
    private OptionalLong after = OptionalLong.empty();
    private HttpClient http = Http.SHARED;
    private TimeSource time = TimeSource.system();
    private Duration silence = Duration.ofSeconds(45);
    private RetryPolicy retry = RetryPolicy.endless(Duration.ofMillis(200), Duration.ofSeconds(10));

    private Builder(Servers servers, String stream) {
      this.servers = servers;
      this.stream = stream;
    }

    /**
     * Begins after this event; 0 is before the first. By default the stream begins with new events.
     */
    public Builder after(long event) {
      after = OptionalLong.of(event);
      return this;
    }

    /** Lets the server keep a cursor under this name, from which the stream resumes. */
    public Builder subscriber(String name) {
      subscriber = Optional.of(name);
      return this;
    }

    /** Adds a header to every request, for example {@code Authorization}. */
    public Builder header(String name, String value) {
      headers.put(name, value);
      return this;
    }

    /**
     * Sets the pauses between connections. The default is 200 ms doubling to 10 seconds, without
     * end.
     */
    public Builder retry(RetryPolicy policy) {
      retry = policy;
      return this;
    }

    /** Sets how long a silent connection is kept. The default is 45 seconds. */
    public Builder silence(Duration longest) {
      silence = longest;
      return this;
    }

    public Builder http(HttpClient client) {
      http = client;
      return this;
    }

    public Builder time(TimeSource source) {
      time = source;
      return this;
    }

    /** Starts to read. */
    public EventStream open(EventHandler handler) {
      return new EventStream(
          new ReadEvents(
              new ReadEvents.Settings(addresses(), headers, http, retry, silence, time),
              after,
              handler));
    }

    private Servers addresses() {
      return new Servers(servers.all().stream().map(this::address).toList());
    }

    private URI address(URI server) {
      var base = server.toString().replaceAll("/+$", "");
      var query = subscriber.map(name -> "?subscriber=" + encoded(name)).orElse("");
      return URI.create(base + "/streams/" + encoded(stream) + "/events" + query);
    }

    private static String encoded(String text) {
      return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
  }

  /** One HTTP client for all streams without one of their own, created when first needed. */
  private static final class Http {
    static final HttpClient SHARED =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
  }
}
