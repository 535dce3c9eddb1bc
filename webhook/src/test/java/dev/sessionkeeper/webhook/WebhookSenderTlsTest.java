package dev.sessionkeeper.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.WebhookResult.Delivered;
import dev.sessionkeeper.webhook.WebhookResult.Unreachable;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class WebhookSenderTlsTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static SSLContext tls;

  @BeforeAll
  static void makeACertificateForHooksExample(@TempDir Path folder) throws Exception {
    var file = folder.resolve("receiver.p12");
    var made =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "receiver",
                "-keyalg",
                "EC",
                "-dname",
                "CN=hooks.example",
                "-ext",
                "san=dns:hooks.example",
                "-keystore",
                file.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD))
            .redirectErrorStream(true)
            .start();
    assertThat(made.waitFor(30, TimeUnit.SECONDS)).isTrue();
    var store = KeyStore.getInstance(file.toFile(), PASSWORD);
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD);
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("receiver", store.getCertificate("receiver"));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    tls = SSLContext.getInstance("TLS");
    tls.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
  }

  @Test
  void theCertificateIsVerifiedAgainstTheNameAndNotTheAddress() throws Exception {
    try (var receiver = receiver(RawReceiver.text(OK))) {
      assertThat(post(receiver, "hooks.example", tls)).isEqualTo(new Delivered(200));
      assertThat(receiver.requests().getFirst()).contains("Host: hooks.example:");
    }
  }

  @Test
  void aCertificateOfAnotherNameIsRefused() throws Exception {
    try (var receiver = receiver(RawReceiver.text(OK))) {
      assertThat(post(receiver, "other.example", tls))
          .isInstanceOfSatisfying(
              Unreachable.class, no -> assertThat(no.reason()).startsWith("TLS failed"));
      assertThat(receiver.requests()).isEmpty();
    }
  }

  @Test
  void anUnknownCertificateIsRefused() throws Exception {
    try (var receiver = receiver(RawReceiver.text(OK))) {
      assertThat(post(receiver, "hooks.example", SSLContext.getDefault()))
          .isInstanceOfSatisfying(
              Unreachable.class, no -> assertThat(no.reason()).startsWith("TLS failed"));
      assertThat(receiver.requests()).isEmpty();
    }
  }

  @Test
  void aHandshakeThatNeverEndsIsGivenUpInTime() throws Exception {
    var never = new CountDownLatch(1);
    // A receiver without TLS takes the client's hello for the beginning of a request and waits for
    // more.
    try (var receiver = new RawReceiver((socket, request) -> never.await())) {
      assertThat(post(receiver, "hooks.example", tls))
          .isEqualTo(new Unreachable("did not answer within 3s"));
    }
  }

  private static RawReceiver receiver(RawReceiver.Script script) throws Exception {
    return new RawReceiver(
        tls.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress()),
        script);
  }

  private static WebhookResult post(RawReceiver receiver, String name, SSLContext trust) {
    var here = new InetAddress[] {InetAddress.getLoopbackAddress()};
    var url = URI.create("https://" + name + ":" + receiver.port() + "/hook");
    return WebhookSender.create(TimeSource.system(), trust)
        .post(
            WebhookRequest.json(url, "m-1", "{}".getBytes(UTF_8))
                .within(Duration.ofSeconds(3))
                .guardedBy(TargetGuard.allowingPrivate().resolvingWith(host -> here)));
  }
}
