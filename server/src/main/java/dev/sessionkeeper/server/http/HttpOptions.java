package dev.sessionkeeper.server.http;

import java.time.Duration;
import java.util.Optional;

/**
 * Where and how the server listens.
 *
 * @param port 0 takes a free one
 * @param requestTimeout in which a request must have arrived as a whole
 * @param bufferedBytes the most bytes of request bodies that are held at one time, over all
 *     connections
 */
public record HttpOptions(
    String host, int port, Optional<Tls> tls, Duration requestTimeout, long bufferedBytes) {

  /**
   * Certificates as PEM texts.
   *
   * @param clientAuthority signs the certificates of clients; without it none is asked for
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
        Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 4));
  }

  public HttpOptions withTls(Tls files) {
    return new HttpOptions(host, port, Optional.of(files), requestTimeout, bufferedBytes);
  }
}
