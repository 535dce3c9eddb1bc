package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.config.InvalidConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {
  @TempDir static Path folder;
  @TempDir Path own;
  private static TestCertificates ours;
  private static TestCertificates strangers;

  @BeforeAll
  static void sign() throws Exception {
    ours = TestCertificates.create(folder, "ours");
    ours.sign("server");
    ours.sign("ops");
    ours.sign("unknown");
    strangers = TestCertificates.create(folder, "strangers");
    strangers.sign("stranger");
  }

  private static String tls(String more) {
    return "server: { tls: { certificate: \"%s\", key: \"%s\"%s } }\n"
        .formatted(ours.pem("server"), ours.key("server"), more);
  }

  private static String mutual() {
    return tls(", client_authority: \"" + ours.pem("ours") + "\"")
        + "security: { certificates: [ { subject: \"CN=ops\", roles: [read] } ] }\n";
  }

  private static int get(TestServer server, SSLContext context, String path)
      throws IOException, InterruptedException {
    try (var client =
        HttpClient.newBuilder()
            .sslContext(context)
            .connectTimeout(Duration.ofSeconds(10))
            .build()) {
      var request = HttpRequest.newBuilder(URI.create(server.server().address() + path)).build();
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }
  }

  @Test
  void aServerWithACertificateSpeaksTlsOnly() throws Exception {
    try (var server = TestServer.start(tls(""))) {
      assertThat(server.server().address()).startsWith("https://");
      assertThat(get(server, ours.client(), "/queues")).isEqualTo(200);
      assertThatThrownBy(() -> get(server, strangers.client(), "/queues"))
          .isInstanceOf(SSLException.class);
      assertThatThrownBy(() -> server.get("/queues")).hasRootCauseInstanceOf(IOException.class);
    }
  }

  /** Replaces the certificate of the server in its files. */
  private Path[] copyOf(TestCertificates authority, String name) throws IOException {
    var certificate = own.resolve("server.pem");
    var key = own.resolve("server.key");
    Files.copy(authority.pem(name), certificate, StandardCopyOption.REPLACE_EXISTING);
    Files.copy(authority.key(name), key, StandardCopyOption.REPLACE_EXISTING);
    return new Path[] {certificate, key};
  }

  private static String files(Path[] files) {
    return "server: { tls: { certificate: \"%s\", key: \"%s\" } }\n".formatted(files[0], files[1]);
  }

  @Test
  void aRotatedCertificateIsServedAfterAReload() throws Exception {
    var yaml = files(copyOf(ours, "server"));
    try (var server = TestServer.start(yaml)) {
      assertThat(get(server, ours.client(), "/queues")).isEqualTo(200);
      copyOf(strangers, "stranger");
      server.server().reload();
      assertThat(get(server, strangers.client(), "/queues")).isEqualTo(200);
      assertThatThrownBy(() -> get(server, ours.client(), "/queues"))
          .isInstanceOf(SSLException.class);
    }
  }

  @Test
  void aReloadWithAKeyThatDoesNotFitKeepsTheOldCertificate() throws Exception {
    var yaml = files(copyOf(ours, "server"));
    try (var server = TestServer.start(yaml)) {
      Files.copy(ours.key("ops"), own.resolve("server.key"), StandardCopyOption.REPLACE_EXISTING);
      assertThatThrownBy(() -> server.server().reload())
          .isInstanceOf(InvalidConfig.class)
          .hasMessageContaining("server.tls.key")
          .hasMessageContaining("does not fit the certificate");
      assertThat(get(server, ours.client(), "/queues")).isEqualTo(200);
    }
  }

  @Test
  void aServerDoesNotStartWithFilesThatNoHandshakeCanSucceedWith() {
    assertThatThrownBy(
            () -> TestServer.start(files(new Path[] {ours.pem("server"), ours.key("ops")})))
        .hasMessageContaining("server.tls.key")
        .hasMessageContaining("does not fit the certificate");
    assertThatThrownBy(
            () -> TestServer.start(files(new Path[] {own.resolve("none.pem"), ours.key("server")})))
        .hasMessageContaining("server.tls.certificate")
        .hasMessageContaining("none.pem, which does not exist");
    assertThatThrownBy(
            () -> TestServer.start(files(new Path[] {ours.key("server"), ours.key("server")})))
        .hasMessageContaining("server.tls.certificate");
    assertThatThrownBy(
            () -> TestServer.start(files(new Path[] {ours.pem("server"), ours.pem("server")})))
        .hasMessageContaining("server.tls.key")
        .hasMessageContaining("no private key");
  }

  @Test
  void onlyAuthenticatedEncryptionIsOffered() throws Exception {
    try (var server = TestServer.start(tls(""))) {
      for (var suite : ours.client().getSupportedSSLParameters().getCipherSuites()) {
        boolean good =
            (suite.contains("_GCM_") || suite.contains("_CHACHA20_"))
                && !suite.startsWith("TLS_RSA_");
        if (good || suite.contains("SCSV")) {
          continue;
        }
        assertThatThrownBy(() -> shakeHands(server, "TLSv1.2", suite))
            .as(suite)
            .isInstanceOf(IOException.class);
      }
      shakeHands(server, "TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256").close();
      shakeHands(server, "TLSv1.3", "TLS_AES_256_GCM_SHA384").close();
    }
  }

  @Test
  void aClientCannotRenegotiate() throws Exception {
    try (var server = TestServer.start(tls(""));
        var socket = shakeHands(server, "TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")) {
      socket.startHandshake();
      assertThatThrownBy(
              () -> {
                socket.getOutputStream().write("GET /health/live HTTP/1.1\r\n".getBytes());
                socket.getOutputStream().write("Host: localhost\r\n\r\n".getBytes());
                if (socket.getInputStream().read() < 0) {
                  throw new IOException("closed");
                }
              })
          .isInstanceOf(IOException.class);
    }
  }

  private static SSLSocket shakeHands(TestServer server, String version, String suite)
      throws Exception {
    var socket =
        (SSLSocket) ours.client().getSocketFactory().createSocket("127.0.0.1", server.port());
    try {
      socket.setSoTimeout(20_000);
      socket.setEnabledProtocols(new String[] {version});
      socket.setEnabledCipherSuites(new String[] {suite});
      socket.startHandshake();
      return socket;
    } catch (IOException | IllegalArgumentException e) {
      socket.close();
      throw e instanceof IOException ? e : new IOException(e);
    }
  }

  @Test
  void aClientIsKnownByItsCertificate() throws Exception {
    try (var server = TestServer.start(mutual())) {
      var ops = ours.client(ours, "ops");
      assertThat(get(server, ops, "/queues")).isEqualTo(200);
      assertThat(get(server, ops, "/openapi.json")).isEqualTo(200);
      assertThat(get(server, ours.client(ours, "unknown"), "/queues")).isEqualTo(401);
    }
  }

  @Test
  void withoutACertificateOfTheAuthorityThereIsNoConnection() throws Exception {
    try (var server = TestServer.start(mutual())) {
      assertThatThrownBy(() -> get(server, ours.client(), "/health/live"))
          .isInstanceOf(IOException.class);
      var stranger = ours.client(strangers, "stranger");
      assertThatThrownBy(() -> get(server, stranger, "/health/live"))
          .isInstanceOf(IOException.class);
    }
  }
}
