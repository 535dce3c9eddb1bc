package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.server.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {
  @TempDir static Path folder;
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
