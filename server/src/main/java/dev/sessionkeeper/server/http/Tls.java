package dev.sessionkeeper.server.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.SSLOptions;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLServerSocketFactory;

/**
 * The TLS settings of the server: versions 1.2 and 1.3, forward secrecy, authenticated encryption,
 * and no second handshake on a connection.
 */
final class Tls {
  private static final Set<String> VERSIONS = new LinkedHashSet<>(List.of("TLSv1.3", "TLSv1.2"));

  private Tls() {}

  /**
   * Refuses renegotiation, by which a client could make the server compute handshake after
   * handshake on one connection.
   */
  static void refuseRenegotiation() {
    // Java reads this property before its first handshake as a server. An operator's own value is
    // kept.
    if (System.getProperty("jdk.tls.rejectClientInitiatedRenegotiation") == null) {
      System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    }
  }

  static void secure(HttpServerOptions server, HttpOptions.Tls tls) {
    server.setSsl(true);
    server.setKeyCertOptions(certificate(tls));
    server.setEnabledSecureTransportProtocols(VERSIONS);
    suites().forEach(server::addEnabledCipherSuite);
    tls.clientAuthority()
        .ifPresent(
            authority -> {
              server.setClientAuth(ClientAuth.REQUIRED);
              server.setTrustOptions(trust(authority));
            });
  }

  static SSLOptions options(HttpOptions.Tls tls) {
    var options =
        new SSLOptions()
            .setKeyCertOptions(certificate(tls))
            .setEnabledSecureTransportProtocols(VERSIONS)
            .setUseAlpn(false);
    suites().forEach(options::addEnabledCipherSuite);
    tls.clientAuthority().ifPresent(authority -> options.setTrustOptions(trust(authority)));
    return options;
  }

  private static PemKeyCertOptions certificate(HttpOptions.Tls tls) {
    return new PemKeyCertOptions()
        .setCertValue(Buffer.buffer(tls.certificate()))
        .setKeyValue(Buffer.buffer(tls.key()));
  }

  private static PemTrustOptions trust(String authority) {
    return new PemTrustOptions().addCertValue(Buffer.buffer(authority));
  }

  /** Returns this runtime's cipher suites with authenticated encryption and forward secrecy. */
  static List<String> suites() {
    var factory = (SSLServerSocketFactory) SSLServerSocketFactory.getDefault();
    return Arrays.stream(factory.getDefaultCipherSuites())
        .filter(suite -> suite.contains("_GCM_") || suite.contains("_CHACHA20_"))
        .filter(suite -> !suite.startsWith("TLS_RSA_") && !suite.startsWith("TLS_ECDH_"))
        .toList();
  }
}
