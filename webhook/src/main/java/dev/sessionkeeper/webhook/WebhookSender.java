package dev.sessionkeeper.webhook;

import dev.sessionkeeper.time.DurationText;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

/**
 * Posts bytes to an untrusted endpoint.
 *
 * <p>The sender writes HTTP/1.1 to plain sockets (ADR 14). The socket connects to the address that
 * the {@link TargetGuard} checked, while the certificate is verified against the name. No proxy, no
 * redirects, no cookies.
 *
 * <p>The guard is asked before every request. A connection is reused for the same name if the guard
 * returned the same address again, and closed after a short idle time. A request whose connection
 * broke is not repeated here, because the receiver may have handled it.
 *
 * <p>Any thread may call it. A call blocks for the request's timeout at most: a timer then closes
 * the socket, whatever the call is waiting for.
 */
public final class WebhookSender {
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  // Shorter than the five seconds after which receivers usually close an idle connection.
  private static final Duration KEEP = Duration.ofSeconds(4);
  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*");

  private final TimeSource time;
  private final SSLContext tls;
  private final KeepConnections idle;

  private WebhookSender(TimeSource time, SSLContext tls) {
    this.time = time;
    this.tls = tls;
    this.idle = new KeepConnections(time);
  }

  /** Returns a sender that trusts the platform's certificate authorities. */
  public static WebhookSender create(TimeSource time) {
    try {
      return create(time, SSLContext.getDefault());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This Java has no TLS; https targets are impossible", e);
    }
  }

  /** Returns a sender with another trust store or a client certificate. */
  public static WebhookSender create(TimeSource time, SSLContext tls) {
    return new WebhookSender(time, tls);
  }

  /** Posts once. The caller decides whether to try again. */
  public WebhookResult post(WebhookRequest request) {
    long started = time.nanoTime();
    return switch (lookUp(request)) {
      case TargetGuard.Verdict.Forbidden no -> new WebhookResult.Forbidden(no.reason());
      case TargetGuard.Verdict.Unknown no -> new WebhookResult.Unreachable(no.reason());
      case TargetGuard.Verdict.Allowed yes -> {
        var left = request.timeout().minus(time.since(started));
        yield left.isPositive()
            ? exchange(request, targetOf(request.url(), yes.address()), left)
            : new WebhookResult.Unreachable(tooLate(request));
      }
    };
  }

  private static TargetGuard.Verdict lookUp(WebhookRequest request) {
    var host = hostOf(request.url());
    if (ADDRESS.matcher(host).matches()) {
      return request.guard().check(host);
    }
    // A lookup has no timeout and blocks its carrier thread, so it runs on a thread that can be
    // abandoned.
    var lookup = new FutureTask<>(() -> request.guard().check(host));
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
      WebhookRequest request, TargetConnection.Target target, Duration timeout) {
    long started = time.nanoTime();
    var mine = new AtomicBoolean(true);
    var kept = idle.take(target);
    TargetConnection connection = null;
    TimeSource.Timer deadline = () -> {};
    try {
      connection = kept.isPresent() ? kept.get() : TargetConnection.to(target);
      var it = connection;
      deadline = time.schedule(timeout, () -> closeIf(mine, it));
      if (kept.isEmpty()) {
        connection.open(tls, timeout);
      }
      connection.patience(timeout);
      var said = talk(request, connection);
      if (said.keep().isPresent() && mine.compareAndSet(true, false)) {
        idle.give(connection, said.keep().get());
      }
      return said.result();
    } catch (IOException e) {
      // The socket may time out a moment before the timer does.
      boolean late =
          e instanceof SocketTimeoutException || time.since(started).compareTo(timeout) >= 0;
      if (kept.isPresent() && !late) {
        idle.distrust(target);
      }
      return new WebhookResult.Unreachable(late ? tooLate(request) : reasonOf(e));
    } finally {
      deadline.cancel();
      if (connection != null) {
        closeIf(mine, connection);
      }
    }
  }

  /** Closes the connection unless it was kept for reuse. */
  private static void closeIf(AtomicBoolean mine, TargetConnection connection) {
    if (mine.compareAndSet(true, false)) {
      connection.close();
    }
  }

  /**
   * The result of a post, and the rest of its connection's life.
   *
   * @param keep how long the connection may be kept; empty if it must be closed
   */
  private record Said(WebhookResult result, Optional<Duration> keep) {}

  private Said talk(WebhookRequest request, TargetConnection connection) throws IOException {
    var answer = new ReadAnswer(connection.in());
    try {
      var out = connection.out();
      out.write(WriteRequest.bytesOf(request, time.instant()));
      out.flush();
    } catch (IOException unwritten) {
      // A receiver may answer and close before it has read the whole request: that answer counts.
      return new Said(answerAfter(unwritten, answer), Optional.empty());
    }
    var head = answer.head();
    // The endpoint gets a moment to finish its answer, because an immediate close would look like
    // an error there.
    connection.patience(PATIENCE.compareTo(request.timeout()) < 0 ? PATIENCE : request.timeout());
    var body = answer.body(head);
    return new Said(resultOf(head, body), body.framed() ? head.keptFor(KEEP) : Optional.empty());
  }

  private WebhookResult answerAfter(IOException unwritten, ReadAnswer answer) throws IOException {
    try {
      var head = answer.head();
      return resultOf(head, answer.body(head));
    } catch (IOException e) {
      unwritten.addSuppressed(e);
      throw unwritten;
    }
  }

  private WebhookResult resultOf(ReadAnswer.Head head, ReadAnswer.Body body) {
    if (head.status() >= 200 && head.status() < 300) {
      // A receiver that died in the middle of its answer may not have stored the request.
      return body.whole()
          ? new WebhookResult.Delivered(head.status())
          : new WebhookResult.Unreachable("broke off its answer " + head.status());
    }
    var wait = RetryAfter.parse(head.header("retry-after"), head.header("date"), time.instant());
    return new WebhookResult.Refused(head.status(), wait, body.text());
  }

  private static TargetConnection.Target targetOf(URI url, InetAddress address) {
    return new TargetConnection.Target(
        WebhookRequest.isSecure(url), hostOf(url), new InetSocketAddress(address, portOf(url)));
  }

  private static int portOf(URI url) {
    return url.getPort() >= 0 ? url.getPort() : WebhookRequest.isSecure(url) ? 443 : 80;
  }

  private static String hostOf(URI url) {
    var host = url.getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private static String tooLate(WebhookRequest request) {
    return "did not answer within " + DurationText.readable(request.timeout());
  }

  private static String reasonOf(IOException e) {
    return switch (e) {
      case ConnectException refused -> "could not be connected: " + refused.getMessage();
      case SSLException untrusted -> "TLS failed: " + untrusted.getMessage();
      default -> String.valueOf(e.getMessage());
    };
  }
}
