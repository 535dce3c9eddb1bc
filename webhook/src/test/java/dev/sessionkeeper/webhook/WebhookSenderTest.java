package dev.sessionkeeper.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.WebhookResult.Delivered;
import dev.sessionkeeper.webhook.WebhookResult.Forbidden;
import dev.sessionkeeper.webhook.WebhookResult.Refused;
import dev.sessionkeeper.webhook.WebhookResult.Unreachable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WebhookSenderTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final Duration SHORT = Duration.ofMillis(400);

  private final WebhookSender sender = WebhookSender.create(TimeSource.system());

  @Test
  void aSignedPostArrivesAsTheReceiverExpectsIt() throws IOException {
    try (var receiver = new RawReceiver(RawReceiver.text(ok("")))) {
      var signature = WebhookSignature.of(SECRET);
      var result =
          sender.post(
              to(receiver.url())
                  .signedWith(signature)
                  .withHeaders(Map.of("Keeper-Session-Id", "acme/app/pull_request/5")));
      assertThat(result).isEqualTo(new Delivered(200));
      var request = receiver.requests().getFirst();
      assertThat(request)
          .startsWith("POST /hook?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + receiver.port() + "\r\n")
          .contains("\r\nContent-Type: application/json\r\n", "\r\nwebhook-id: m-1\r\n")
          .contains("\r\nKeeper-Session-Id: acme/app/pull_request/5\r\n")
          .endsWith("\r\n\r\n{}");
      assertThat(
              signature.verify(
                  "m-1",
                  header(request, "webhook-timestamp"),
                  header(request, "webhook-signature"),
                  "{}".getBytes(UTF_8),
                  Instant.ofEpochSecond(Long.parseLong(header(request, "webhook-timestamp"))),
                  Duration.ZERO))
          .isTrue();
    }
  }

  @Test
  void aRefusalCarriesWhatTheReceiverSaid() throws IOException {
    var answer =
        String.join(
            "\r\n",
            "HTTP/1.1 503 Busy",
            "Retry-After: 7",
            "Transfer-Encoding: chunked",
            "",
            "5",
            "come ",
            "5;x=y",
            "later",
            "0",
            "",
            "");
    try (var receiver = new RawReceiver(RawReceiver.text(answer))) {
      assertThat(sender.post(to(receiver.url())))
          .isEqualTo(new Refused(503, Optional.of(Duration.ofSeconds(7)), "come later"));
    }
  }

  @Test
  void aRedirectIsNotFollowed() throws IOException {
    try (var trap = new RawReceiver(RawReceiver.text(ok("")));
        var receiver =
            new RawReceiver(
                RawReceiver.text(
                    "HTTP/1.1 307 There\r\nLocation: "
                        + trap.url()
                        + "\r\nContent-Length: 0\r\n\r\n"))) {
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Refused(307, Optional.empty(), ""));
      assertThat(trap.requests()).isEmpty();
    }
  }

  @Test
  void interimAnswersArePassedOver() throws IOException {
    var answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + ok("");
    try (var receiver = new RawReceiver(RawReceiver.text(answer))) {
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
    }
  }

  @Test
  void aReceiverThatHangsIsGivenUpInTime() throws IOException {
    var never = new CountDownLatch(1);
    try (var receiver = new RawReceiver((socket, request) -> never.await())) {
      assertThat(sender.post(to(receiver.url()).within(SHORT)))
          .isEqualTo(new Unreachable("did not answer within 400ms"));
    }
  }

  @Test
  void aReceiverThatDripsHeadersIsGivenUpInTime() throws IOException {
    try (var receiver =
        new RawReceiver(
            (socket, request) -> {
              RawReceiver.write(socket, "HTTP/1.1 200 OK\r\n");
              drip(socket, "X");
            })) {
      assertThat(sender.post(to(receiver.url()).within(SHORT)))
          .isEqualTo(new Unreachable("did not answer within 400ms"));
    }
  }

  @Test
  void aBodyThatNeverEndsDoesNotChangeTheAnswer() throws IOException {
    try (var dripping =
            new RawReceiver(
                (socket, request) -> {
                  RawReceiver.write(socket, "HTTP/1.1 202 OK\r\n\r\n");
                  drip(socket, "x");
                });
        var flooding =
            new RawReceiver(
                (socket, request) -> {
                  RawReceiver.write(socket, "HTTP/1.1 500 Oh\r\n\r\n");
                  while (true) {
                    RawReceiver.write(socket, "flood ".repeat(1000));
                  }
                })) {
      var first = sender.post(to(dripping.url()).within(SHORT));
      // On a busy machine not even the answer arrives in time.
      assertThat(first.equals(new Delivered(202)) ? first : sender.post(to(dripping.url())))
          .isEqualTo(new Delivered(202));
      assertThat(sender.post(to(flooding.url())))
          .isInstanceOfSatisfying(
              Refused.class, no -> assertThat(no.answer()).hasSize(ReadAnswer.KEPT));
    }
  }

  @Test
  void aConnectionThatIsCutIsNoAnswer() throws IOException {
    try (var silent = new RawReceiver((socket, request) -> {});
        var half = new RawReceiver(RawReceiver.text("HTTP/1.1 200 OK\r\nContent-Le"))) {
      for (var receiver : new RawReceiver[] {silent, half}) {
        assertThat(sender.post(to(receiver.url())))
            .isEqualTo(new Unreachable("closed the connection before it answered"));
      }
    }
  }

  @Test
  void anAnswerThatBreaksOffIsNotTakenForADelivery() throws IOException {
    for (var answer :
        new String[] {
          "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
        }) {
      try (var receiver = new RawReceiver(RawReceiver.text(answer))) {
        assertThat(sender.post(to(receiver.url())))
            .isEqualTo(new Unreachable("broke off its answer 200"));
      }
    }
    try (var receiver = new RawReceiver(RawReceiver.text("HTTP/1.1 200 OK\r\n\r\nall of it"))) {
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
    }
  }

  @Test
  void whatIsNotHttpIsNoAnswer() throws IOException {
    for (var answer :
        new String[] {
          "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/2 200\r\n\r\n", "\r\n\r\n\r\n"
        }) {
      try (var receiver = new RawReceiver(RawReceiver.text(answer))) {
        assertThat(sender.post(to(receiver.url())))
            .isEqualTo(new Unreachable("answered with something that is not HTTP/1.1"));
      }
    }
    try (var endless =
        new RawReceiver(
            RawReceiver.text("HTTP/1.1 200 OK\r\n" + "X: y\r\n".repeat(10_000) + "\r\n"))) {
      assertThat(sender.post(to(endless.url())))
          .isEqualTo(new Unreachable("answered with more than 32 KiB of headers"));
    }
  }

  @Test
  void aReceiverThatDoesNotReadIsGivenUpInTime() throws IOException {
    var never = new CountDownLatch(1);
    var large = new byte[64 * 1024 * 1024];
    try (var receiver = new RawReceiver((socket, request) -> never.await())) {
      var request = WebhookRequest.json(receiver.url(), "m-1", large);
      assertThat(sender.post(request.guardedBy(TargetGuard.allowingPrivate()).within(SHORT)))
          .isEqualTo(new Unreachable("did not answer within 400ms"));
    }
  }

  @Test
  void aClosedPortIsSaidToBeOne() throws IOException {
    int port;
    try (var closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    assertThat(sender.post(to(URI.create("http://127.0.0.1:" + port + "/"))))
        .isInstanceOfSatisfying(
            Unreachable.class, no -> assertThat(no.reason()).startsWith("could not be connected"));
  }

  @Test
  void aPrivateTargetIsNotEvenConnected() throws IOException {
    try (var receiver = new RawReceiver(RawReceiver.text(ok("")))) {
      var result = sender.post(WebhookRequest.json(receiver.url(), "m-1", new byte[0]));
      assertThat(result).isInstanceOf(Forbidden.class);
      assertThat(receiver.requests()).isEmpty();
    }
  }

  @Test
  void theSocketGoesToTheCheckedAddressAndTheHostHeaderKeepsTheName() throws IOException {
    try (var receiver = new RawReceiver(RawReceiver.text(ok("")))) {
      var here = new InetAddress[] {InetAddress.getLoopbackAddress()};
      var guard = TargetGuard.allowingPrivate().resolvingWith(host -> here);
      var url = URI.create("http://hooks.invalid:" + receiver.port());
      assertThat(sender.post(to(url).guardedBy(guard))).isEqualTo(new Delivered(200));
      assertThat(receiver.requests().getFirst())
          .startsWith("POST / HTTP/1.1\r\nHost: hooks.invalid:" + receiver.port() + "\r\n");
    }
  }

  @Test
  void aLookupThatHangsIsGivenUpInTime() {
    var never = new CountDownLatch(1);
    var guard =
        TargetGuard.publicOnly()
            .resolvingWith(
                host -> {
                  awaitQuietly(never);
                  return new InetAddress[0];
                });
    var result = sender.post(to(URI.create("http://slow.invalid/")).guardedBy(guard).within(SHORT));
    assertThat(result).isEqualTo(new Unreachable("looking up the host took too long"));
    never.countDown();
  }

  @Test
  void requestsThatCouldSmuggleAreRefused() {
    var url = URI.create("http://example.com/");
    assertThatThrownBy(() -> to(url).withHeaders(Map.of("X-A", "b\r\nX-C: d")))
        .hasMessageContaining("printable ASCII");
    assertThatThrownBy(() -> to(url).withHeaders(Map.of("X A", "b")))
        .hasMessageContaining("A header has a name");
    assertThatThrownBy(() -> to(url).withHeaders(Map.of("content-LENGTH", "0")))
        .hasMessageContaining("does not write itself");
    assertThatThrownBy(() -> WebhookRequest.json(url, "a\nb", new byte[0]))
        .hasMessageContaining("webhook-id");
    for (var bad :
        new String[] {
          "ftp://example.com/", "http:///x", "/x", "http://user:secret@example.com/", "mailto:a@b"
        }) {
      assertThatThrownBy(() -> to(URI.create(bad)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageNotContaining("secret");
    }
  }

  private static void drip(Socket socket, String what) throws IOException, InterruptedException {
    var never = new CountDownLatch(1);
    do {
      RawReceiver.write(socket, what);
    } while (!never.await(5, TimeUnit.MILLISECONDS));
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static WebhookRequest to(URI url) {
    return WebhookRequest.json(url, "m-1", "{}".getBytes(UTF_8))
        .guardedBy(TargetGuard.allowingPrivate());
  }

  private static String ok(String body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
  }

  private static String header(String request, String name) {
    int at = request.indexOf(name + ": ") + name.length() + 2;
    return request.substring(at, request.indexOf("\r\n", at));
  }
}
