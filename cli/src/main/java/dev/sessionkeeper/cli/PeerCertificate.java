package dev.sessionkeeper.cli;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Looks at the certificate that a server shows. */
final class PeerCertificate {
  private static final int HTTPS = 443;
  private static final int PATIENCE = (int) Duration.ofSeconds(5).toMillis();

  private PeerCertificate() {}

  /** Returns when the first certificate of the chain ends; empty if the server cannot be asked. */
  static Optional<Instant> end(URI server, Optional<SSLContext> tls) {
    int port = server.getPort() < 0 ? HTTPS : server.getPort();
    try (var socket =
        (SSLSocket) tls.orElseGet(PeerCertificate::usual).getSocketFactory().createSocket()) {
      socket.connect(new InetSocketAddress(server.getHost(), port), PATIENCE);
      socket.setSoTimeout(PATIENCE);
      socket.startHandshake();
      return Arrays.stream(socket.getSession().getPeerCertificates())
          .filter(X509Certificate.class::isInstance)
          .map(certificate -> ((X509Certificate) certificate).getNotAfter().toInstant())
          .min(Comparator.naturalOrder());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static SSLContext usual() {
    try {
      return SSLContext.getDefault();
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java runtime has a default TLS context", e);
    }
  }
}
