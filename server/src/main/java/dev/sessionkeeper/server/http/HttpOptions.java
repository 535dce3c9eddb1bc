package dev.sessionkeeper.server.http;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The options of the listener.
 *
 * @param port 0 takes a free one
 * @param requestTimeout how long a request may take to arrive, and a client to read its answer
 * @param idle how long a connection may stay open without a complete head or a byte read
 * @param deadline how long a handler may take, apart from the time it waits by design
 * @param bufferedBytes the most bytes of request bodies in memory, over all connections; the same
 *     again for answers
 * @param origins returns the web origins whose pages may call; asked with every request
 */
public record HttpOptions(
    String host,
    int port,
    Optional<Tls> tls,
    Duration requestTimeout,
    Duration idle,
    Duration deadline,
    long bufferedBytes,
    Supplier<Set<String>> origins) {

  /** A body needs up to eight times its size while it is decoded and handled. */
  private static final int HEAP_SHARE = 8;

  /** One GitHub delivery of 25 MB must fit beside the part reserved for small requests. */
  private static final long LEAST_BUFFERED = 36L << 20;

  /**
   * Certificates as PEM texts.
   *
   * @param clientAuthority the issuer of client certificates; without it none is requested
   */
  public record Tls(String certificate, String key, Optional<String> clientAuthority) {
    @Override
    public String toString() {
      return "Tls[***]";
    }
  }

  public static HttpOptions of(String host, int port) {
    return new HttpOptions(
        host,
        port,
        Optional.empty(),
        Duration.ofSeconds(60),
        Duration.ofSeconds(90),
        Duration.ofSeconds(10),
        Math.max(LEAST_BUFFERED, Runtime.getRuntime().maxMemory() / HEAP_SHARE),
        Set::of);
  }

  public HttpOptions withTls(Tls files) {
    return new HttpOptions(
        host, port, Optional.of(files), requestTimeout, idle, deadline, bufferedBytes, origins);
  }

  public HttpOptions withOrigins(Supplier<Set<String>> allowed) {
    return new HttpOptions(host, port, tls, requestTimeout, idle, deadline, bufferedBytes, allowed);
  }

  HttpOptions withDeadline(Duration newDeadline) {
    return new HttpOptions(
        host, port, tls, requestTimeout, idle, newDeadline, bufferedBytes, origins);
  }

  HttpOptions withRequestTimeout(Duration newTimeout) {
    return new HttpOptions(host, port, tls, newTimeout, idle, deadline, bufferedBytes, origins);
  }

  HttpOptions withIdle(Duration newIdle) {
    return new HttpOptions(
        host, port, tls, requestTimeout, newIdle, deadline, bufferedBytes, origins);
  }

  public HttpOptions withBufferedBytes(long bytes) {
    return new HttpOptions(host, port, tls, requestTimeout, idle, deadline, bytes, origins);
  }
}
