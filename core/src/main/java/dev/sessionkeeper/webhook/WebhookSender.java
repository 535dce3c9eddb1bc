package dev.sessionkeeper.webhook;

import dev.sessionkeeper.time.TimeSource;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

/**
 * Posts bytes to an endpoint that is not trusted.
 *
 * <p>It speaks HTTP/1.1 over a socket of its own, because the JDK's clients look a name up
 * themselves: here the socket goes to the very address that the {@link TargetGuard} checked, while
 * the certificate is still verified against the name. No proxy, no redirects, no cookies; one
 * connection per request.
 *
 * <p>Any thread may call it. A call blocks for the request's timeout at most: a timer then closes
 * the socket, whatever the call was waiting for.
 */
public final class WebhookSender {
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final TimeSource time;
  private final SSLContext tls;

  private WebhookSender(TimeSource time, SSLContext tls) {
    this.time = time;
    this.tls = tls;
  }

  /** Trusts the certificate authorities of the platform. */
  public static WebhookSender create(TimeSource time) {
    try {
      return create(time, SSLContext.getDefault());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This Java has no TLS; https targets are impossible", e);
    }
  }

  /** With another trust store or a client certificate. */
  public static WebhookSender create(TimeSource time, SSLContext tls) {
    return new WebhookSender(time, tls);
  }

  /** Posts once. Whether to try again is the caller's decision. */
  public WebhookResult post(WebhookRequest request) {
    long started = time.nanoTime();
    return switch (lookUp(request)) {
      case TargetGuard.Verdict.Forbidden no -> new WebhookResult.Forbidden(no.reason());
      case TargetGuard.Verdict.Unknown no -> new WebhookResult.Unreachable(no.reason());
      case TargetGuard.Verdict.Allowed yes -> {
        var left = request.timeout().minus(time.since(started));
        var address = new InetSocketAddress(yes.address(), portOf(request.url()));
        yield left.isPositive()
            ? exchange(request, address, left)
            : new WebhookResult.Unreachable(tooLate(request));
      }
    };
  }

  private static TargetGuard.Verdict lookUp(WebhookRequest request) {
    // A lookup cannot be given a timeout, and it blocks a carrier thread: it gets a thread to lose.
    var lookup = new FutureTask<>(() -> request.guard().check(hostOf(request.url())));
    Thread.ofPlatform().daemon().name("keeper-lookup").start(lookup);
    try {
      return lookup.get(request.timeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return new TargetGuard.Verdict.Unknown("looking up the host took too long");
    } catch (ExecutionException e) {
      return new TargetGuard.Verdict.Unknown("looking up the host failed: " + e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new TargetGuard.Verdict.Unknown("interrupted while looking up the host");
    }
  }

  private WebhookResult exchange(
      WebhookRequest request, InetSocketAddress address, Duration timeout) {
    long started = time.nanoTime();
    var plain = new Socket();
    var deadline = time.schedule(timeout, () -> close(plain));
    try (plain) {
      plain.setTcpNoDelay(true);
      plain.connect(address, (int) Math.max(1, timeout.toMillis()));
      // Should the timer be held up: no single read waits longer than the whole call may take.
      plain.setSoTimeout((int) Math.max(1, timeout.toMillis()));
      if (!WebhookRequest.isSecure(request.url())) {
        return talk(request, plain);
      }
      try (var secured = secure(plain, request.url())) {
        return talk(request, secured);
      }
    } catch (IOException e) {
      boolean late = time.since(started).compareTo(timeout) >= 0;
      return new WebhookResult.Unreachable(late ? tooLate(request) : reasonOf(e));
    } finally {
      deadline.cancel();
    }
  }

  private WebhookResult talk(WebhookRequest request, Socket socket) throws IOException {
    var answer = new ReadAnswer(new BufferedInputStream(socket.getInputStream()));
    try {
      var out = socket.getOutputStream();
      out.write(bytesOf(request));
      out.flush();
    } catch (IOException unwritten) {
      // A receiver may answer and close before it has read everything: that answer counts.
      return answerAfter(unwritten, answer);
    }
    var head = answer.head();
    // Who has answered gets a moment to finish: closing at once would look like an error there.
    socket.setSoTimeout((int) Math.min(PATIENCE.toMillis(), socket.getSoTimeout()));
    return resultOf(head, answer);
  }

  private WebhookResult answerAfter(IOException unwritten, ReadAnswer answer) throws IOException {
    try {
      return resultOf(answer.head(), answer);
    } catch (IOException e) {
      unwritten.addSuppressed(e);
      throw unwritten;
    }
  }

  private WebhookResult resultOf(ReadAnswer.Head head, ReadAnswer answer) {
    var body = answer.body(head);
    if (head.status() >= 200 && head.status() < 300) {
      // A receiver that dies in the middle of its answer may not have kept what it was about to.
      return body.whole()
          ? new WebhookResult.Delivered(head.status())
          : new WebhookResult.Unreachable("broke off its answer " + head.status());
    }
    var wait = RetryAfter.parse(head.header("retry-after"), head.header("date"), time.instant());
    return new WebhookResult.Refused(head.status(), wait, body.text());
  }

  private SSLSocket secure(Socket plain, URI url) throws IOException {
    var host = hostOf(url);
    var socket =
        (SSLSocket) tls.getSocketFactory().createSocket(plain, host, plain.getPort(), true);
    var parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  private byte[] bytesOf(WebhookRequest request) {
    var url = URI.create(request.url().toASCIIString());
    var now = time.instant();
    var head = new StringBuilder("POST ");
    head.append(url.getRawPath().isEmpty() ? "/" : url.getRawPath());
    Optional.ofNullable(url.getRawQuery()).ifPresent(query -> head.append('?').append(query));
    head.append(" HTTP/1.1\r\n");
    header(head, "Host", url.getHost() + (url.getPort() < 0 ? "" : ":" + url.getPort()));
    header(head, "User-Agent", "Sessionkeeper");
    header(head, "Content-Type", request.contentType());
    header(head, "Content-Length", Integer.toString(request.body().length));
    header(head, "Connection", "close");
    header(head, WebhookSignature.ID_HEADER, request.id());
    header(head, WebhookSignature.TIMESTAMP_HEADER, Long.toString(now.getEpochSecond()));
    request
        .signature()
        .map(by -> by.sign(request.id(), now, request.body()))
        .ifPresent(signed -> header(head, WebhookSignature.SIGNATURE_HEADER, signed));
    request.headers().forEach((name, value) -> header(head, name, value));
    head.append("\r\n");
    var bytes = new ByteArrayOutputStream(head.length() + request.body().length);
    bytes.writeBytes(head.toString().getBytes(StandardCharsets.US_ASCII));
    bytes.writeBytes(request.body());
    return bytes.toByteArray();
  }

  private static void header(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
  }

  private static int portOf(URI url) {
    return url.getPort() >= 0 ? url.getPort() : WebhookRequest.isSecure(url) ? 443 : 80;
  }

  private static String hostOf(URI url) {
    var host = url.getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private static String tooLate(WebhookRequest request) {
    return "did not answer within " + request.timeout().toString().toLowerCase(Locale.ROOT);
  }

  private static String reasonOf(IOException e) {
    return switch (e) {
      case ConnectException refused -> "could not be connected: " + refused.getMessage();
      case SSLException untrusted -> "TLS failed: " + untrusted.getMessage();
      default -> String.valueOf(e.getMessage());
    };
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is as closed as it can be.
      return;
    }
  }
}
