package dev.sessionkeeper.server.http;

import dev.sessionkeeper.time.TimeSource;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listens, and serves the routes of a table. */
public final class HttpServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HttpServer.class);
  private static final int MAX_LINE = 16 << 10;
  private static final int MAX_HEADERS = 32 << 10;

  static {
    Tls.refuseRenegotiation();
  }

  /** A client that reuses its open connection does so within this time. */
  private static final Duration PARTING = Duration.ofMillis(250);

  private final Vertx vertx;
  private final Kernel kernel;
  private final io.vertx.core.http.HttpServer server;

  private HttpServer(Vertx vertx, Kernel kernel, io.vertx.core.http.HttpServer server) {
    this.vertx = vertx;
    this.kernel = kernel;
    this.server = server;
  }

  /**
   * Starts to listen.
   *
   * @throws IOException if the address cannot be taken
   */
  public static HttpServer start(
      HttpOptions options, RouteTable routes, Gate gate, RequestListener listener, TimeSource time)
      throws IOException {
    var vertx = Vertx.vertx(vertxOptions());
    vertx.exceptionHandler(HttpServer::unexpected);
    var kernel = new Kernel(vertx, routes, gate, listener, time, options);
    kernel.watchTheTime();
    var server = vertx.createHttpServer(serverOptions(options));
    server.requestHandler(
        request -> {
          if (!kernel.cors().mark(request)) {
            new Exchange(kernel, Vertx.currentContext(), request).begin();
          }
        });
    server.connectionHandler(kernel::connected);
    server.invalidRequestHandler(HttpServer::refuseBroken);
    server.exceptionHandler(HttpServer::connectionFailed);
    try {
      wait(server.listen(options.port(), options.host()), Duration.ofSeconds(30));
    } catch (IOException e) {
      closeQuietly(vertx);
      throw e;
    }
    kernel.readmitRegularly();
    return new HttpServer(vertx, kernel, server);
  }

  /** Returns the port that the server listens on. */
  public int port() {
    return server.actualPort();
  }

  /** Returns how many requests are being served. */
  public int running() {
    return kernel.running();
  }

  /** Returns how many bytes of request bodies and answers are in memory. */
  public long bufferedBytes() {
    return kernel.requests().taken() + kernel.answers().taken() + kernel.streams().taken();
  }

  /** Returns whether the server has begun to shut down. */
  public boolean isLeaving() {
    return kernel.isLeaving();
  }

  /**
   * Uses other certificates for all new handshakes. Open connections stay open.
   *
   * @throws IOException if the certificates cannot be used; then the former ones stay
   */
  public void replace(HttpOptions.Tls tls) throws IOException {
    wait(server.updateSSLOptions(Tls.options(tls), true), Duration.ofSeconds(30));
  }

  /** Checks again whether the callers of all waiting requests may still call. */
  public void readmit() {
    kernel.readmit();
  }

  /** Keeps serving, but makes every answer the last one of its connection. */
  public void leave() {
    kernel.leave();
  }

  /**
   * Refuses new requests, ends all waits, and lets running requests finish. A request on an open
   * connection is refused with an answer: closing the connection would leave its sender in doubt.
   *
   * @return how many requests were still running at the deadline
   */
  public int drain(Duration deadline) throws InterruptedException {
    kernel.drain();
    long start = kernel.time().nanoTime();
    waitWhile(() -> kernel.running() > 0, start, deadline);
    int unfinished = kernel.running();
    var parting = deadline.compareTo(PARTING) < 0 ? deadline : PARTING;
    waitWhile(() -> kernel.connections() > 0 || kernel.running() > 0, start, parting);
    return unfinished;
  }

  private void waitWhile(BooleanSupplier busy, long start, Duration deadline)
      throws InterruptedException {
    while (busy.getAsBoolean() && kernel.time().since(start).compareTo(deadline) < 0) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  @Override
  public void close() {
    kernel.drain();
    closeQuietly(vertx);
  }

  private static void connectionFailed(Throwable failure) {
    EndOnOutOfMemory.check(failure);
    log.debug("A connection failed: {}", failure.toString());
  }

  private static void unexpected(Throwable failure) {
    EndOnOutOfMemory.check(failure);
    log.error("The web server failed in a place that expects no failure", failure);
  }

  private static VertxOptions vertxOptions() {
    return new VertxOptions()
        .setEventLoopPoolSize(1)
        .setWorkerPoolSize(1)
        .setInternalBlockingPoolSize(2)
        .setFileSystemOptions(
            new FileSystemOptions()
                .setClassPathResolvingEnabled(false)
                .setFileCachingEnabled(false));
  }

  private static HttpServerOptions serverOptions(HttpOptions options) {
    var server =
        new HttpServerOptions()
            .setMaxInitialLineLength(MAX_LINE)
            .setMaxHeaderSize(MAX_HEADERS)
            .setIdleTimeout((int) options.idle().toMillis())
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            // One protocol, one set of rules about deadlines and waits; HTTP/2 is left to the
            // proxy.
            .setHttp2ClearTextEnabled(false)
            .setUseAlpn(false)
            .setHandle100ContinueAutomatically(false);
    options.tls().ifPresent(tls -> Tls.secure(server, tls));
    return server;
  }

  /** Answers bytes that are not HTTP with an error if possible, and closes the connection. */
  private static void refuseBroken(HttpServerRequest request) {
    var type = typeOf(request.decoderResult().cause());
    var answer = Response.of(type.with(type.title()), "none");
    new WriteResponse(request, new Waiting(), "none", () -> true).write(answer, true);
  }

  private static ProblemType typeOf(@Nullable Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return ProblemType.TARGET_TOO_LONG;
    }
    return cause instanceof TooLongHttpHeaderException
        ? ProblemType.HEADERS_TOO_LARGE
        : ProblemType.MALFORMED_HTTP;
  }

  private static void wait(Future<?> future, Duration patience) throws IOException {
    try {
      future.toCompletionStage().toCompletableFuture().get(patience.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while starting to listen", e);
    } catch (ExecutionException e) {
      var cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(String.valueOf(cause.getMessage()), cause);
    } catch (TimeoutException e) {
      throw new IOException("The address was not free in time", e);
    }
  }

  private static void closeQuietly(Vertx vertx) {
    try {
      wait(vertx.close(), Duration.ofSeconds(10));
    } catch (IOException e) {
      log.warn("The web server did not close: {}", e.getMessage());
    }
  }
}
