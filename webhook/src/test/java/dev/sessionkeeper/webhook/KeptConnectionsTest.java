package dev.sessionkeeper.webhook;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.WebhookResult.Delivered;
import dev.sessionkeeper.webhook.WebhookResult.Forbidden;
import dev.sessionkeeper.webhook.WebhookResult.Refused;
import dev.sessionkeeper.webhook.WebhookResult.Unreachable;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections are reused, but only for targets that they were checked for. */
@Timeout(60)
@Tag("slow")
class KeptConnectionsTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private final WebhookSender sender = WebhookSender.create(TimeSource.system());

  /**
   * A receiver that answers several requests per connection; closes the connection after an empty
   * answer.
   */
  private static final class Patient implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private final String[] answers;

    /** Creates the receiver, which repeats the last answer. */
    Patient(String... answers) throws IOException {
      this.answers = answers;
      Thread.ofVirtual().start(this::acceptAll);
    }

    URI url() {
      return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/hook");
    }

    private void acceptAll() {
      try {
        while (true) {
          var socket = server.accept();
          connections.incrementAndGet();
          Thread.ofVirtual().start(() -> serve(socket));
        }
      } catch (IOException closed) {
        return;
      }
    }

    private void serve(Socket socket) {
      try (socket) {
        var in = new BufferedInputStream(socket.getInputStream());
        while (read(in)) {
          var answer = answers[Math.min(requests.getAndIncrement(), answers.length - 1)];
          if (answer.isEmpty()) {
            return;
          }
          socket.getOutputStream().write(answer.getBytes(ISO_8859_1));
        }
      } catch (IOException gone) {
        return;
      }
    }

    private static boolean read(InputStream in) throws IOException {
      var head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int c = in.read();
        if (c < 0) {
          return false;
        }
        head.append((char) c);
      }
      in.readNBytes(2);
      return true;
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  @Test
  void requestsToOneTargetShareAConnection() throws IOException {
    var chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: y\r\n\r\n";
    try (var receiver = new Patient(OK, chunked, OK, "HTTP/1.1 204 None\r\n\r\n", OK)) {
      for (int i = 0; i < 6; i++) {
        assertThat(sender.post(to(receiver.url())))
            .isInstanceOfSatisfying(
                Delivered.class, yes -> assertThat(yes.status()).isBetween(200, 204));
      }
      assertThat(receiver.connections).hasValue(1);
    }
  }

  @Test
  void aRefusalKeepsTheConnectionToo() throws IOException {
    try (var receiver = new Patient("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", OK)) {
      assertThat(sender.post(to(receiver.url()))).isInstanceOf(Refused.class);
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
      assertThat(receiver.connections).hasValue(1);
    }
  }

  @Test
  void aReceiverThatWantsToCloseIsTakenAtItsWord() throws IOException {
    for (var closing :
        new String[] {
          "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
          "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n",
          // The answer is longer than announced: the rest is not the answer to the next request.
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        }) {
      try (var receiver = new Patient(closing)) {
        for (int i = 1; i <= 3; i++) {
          assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
          assertThat(receiver.connections).hasValue(i);
        }
      }
    }
  }

  @Test
  void aConnectionThatWasClosedMeanwhileIsNotUsed() throws Exception {
    var closed = new Semaphore(0);
    try (var receiver =
        new RawReceiver(
            (socket, request) -> {
              RawReceiver.write(socket, OK);
              socket.close();
              closed.release();
            })) {
      for (int i = 0; i < 20; i++) {
        assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
        closed.acquire();
      }
    }
  }

  @Test
  void aReceiverThatClosesWithoutAWordIsFoundOutOnce() throws IOException {
    try (var receiver = new Patient(OK, "", OK)) {
      sender.post(to(receiver.url()));
      assertThat(sender.post(to(receiver.url()))).isInstanceOf(Unreachable.class);
      for (int i = 3; i <= 5; i++) {
        assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
        assertThat(receiver.connections).hasValue(i - 1);
      }
    }
  }

  @Test
  void aRequestWhoseConnectionBreaksIsNotSentAgain() throws IOException {
    try (var receiver = new Patient(OK, "", OK)) {
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
      assertThat(sender.post(to(receiver.url()))).isInstanceOf(Unreachable.class);
      assertThat(receiver.requests).hasValue(2);
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
      assertThat(receiver.connections).hasValue(2);
    }
  }

  @Test
  void aNameThatMovesToAnotherAddressIsCheckedAndConnectedAnew() throws IOException {
    var address = new AtomicReference<>(InetAddress.getByName("127.0.0.1"));
    var guard =
        TargetGuard.allowingPrivate().resolvingWith(host -> new InetAddress[] {address.get()});
    try (var receiver = new Patient(OK)) {
      var url = URI.create("http://hooks.invalid:" + receiver.server.getLocalPort() + "/");
      assertThat(sender.post(to(url).guardedBy(guard))).isEqualTo(new Delivered(200));
      assertThat(sender.post(to(url).guardedBy(guard))).isEqualTo(new Delivered(200));
      assertThat(receiver.connections).hasValue(1);
      // A cloud's metadata service; the open connection must not bypass the guard.
      address.set(InetAddress.getByName("169.254.169.254"));
      assertThat(sender.post(to(url).guardedBy(guard))).isInstanceOf(Forbidden.class);
      assertThat(receiver.requests).hasValue(2);
    }
  }

  @Test
  void anAllowedConnectionIsNoUseToARequestThatMayNotGoThere() throws IOException {
    try (var receiver = new Patient(OK)) {
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
      assertThat(sender.post(to(receiver.url()).guardedBy(TargetGuard.publicOnly())))
          .isInstanceOf(Forbidden.class);
      assertThat(receiver.requests).hasValue(1);
    }
  }

  @Test
  void theTimeLimitHoldsOnAKeptConnectionToo() throws IOException {
    var never = new CountDownLatch(1);
    try (var receiver =
        new RawReceiver(
            (socket, request) -> {
              RawReceiver.write(socket, OK);
              never.await();
            })) {
      assertThat(sender.post(to(receiver.url()))).isEqualTo(new Delivered(200));
      assertThat(sender.post(to(receiver.url()).within(Duration.ofMillis(400))))
          .isEqualTo(new Unreachable("did not answer within 400ms"));
      assertThat(receiver.requests()).hasSize(1);
    }
  }

  private static WebhookRequest to(URI url) {
    return WebhookRequest.json(url, "m-1", "{}".getBytes(UTF_8))
        .guardedBy(TargetGuard.allowingPrivate());
  }
}
