package dev.sessionkeeper.server.http;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.impl.ConnectionBase;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** Writes one answer. The web server's objects are touched on the event loop only. */
final class WriteResponse {
  private static final Duration STEP = Duration.ofMillis(250);
  private static final Duration LAST_PATIENCE = Duration.ofSeconds(5);

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final Waiting waiting;
  private final String correlationId;
  private final BooleanSupplier lastOfConnection;

  WriteResponse(
      HttpServerRequest request,
      Waiting waiting,
      String correlationId,
      BooleanSupplier lastOfConnection) {
    this.request = request;
    this.response = request.response();
    this.waiting = waiting;
    this.correlationId = correlationId;
    this.lastOfConnection = lastOfConnection;
  }

  /** Writes a whole answer; on the event loop. */
  Future<Void> write(Response answer, boolean close) {
    if (response.closed() || response.ended()) {
      return Future.failedFuture(new ClientGone());
    }
    boolean last = close || lastOfConnection.getAsBoolean();
    head(answer, last);
    var written =
        answer.body() instanceof Response.Body.Bytes body && body.bytes().length > 0
            ? response.end(Buffer.buffer(body.bytes()))
            : response.end();
    return last ? written.onComplete(done -> request.connection().close()) : written;
  }

  /** Writes a whole answer and waits until the socket has taken it: false when it did not. */
  boolean writeAndWait(Response answer, Executor loop) {
    var written = new CompletableFuture<Void>();
    loop.execute(() -> write(answer, false).onComplete(result -> settle(written, result)));
    try {
      written.get();
      return true;
    } catch (ExecutionException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Writes the head, then lets the writer write, then ends the answer. */
  void stream(Response answer, Response.StreamBody writer, Executor loop) throws Exception {
    loop.execute(
        () -> {
          if (!response.closed()) {
            head(answer, false);
            response.setChunked(true);
            response.write(Buffer.buffer());
          }
        });
    try {
      writer.writeTo(new Stream(loop));
    } finally {
      loop.execute(
          () -> {
            if (!response.closed() && !response.ended()) {
              response.end();
            }
          });
    }
  }

  private void head(Response answer, boolean close) {
    response.setStatusCode(answer.status());
    response.putHeader("X-Correlation-Id", correlationId);
    response.putHeader("X-Content-Type-Options", "nosniff");
    response.putHeader("Cache-Control", "no-store");
    answer.headers().forEach(response::putHeader);
    if (close) {
      response.putHeader("Connection", "close");
    }
  }

  private static void settle(
      CompletableFuture<Void> future, io.vertx.core.AsyncResult<Void> result) {
    if (result.succeeded()) {
      future.complete(null);
    } else {
      future.completeExceptionally(result.cause());
    }
  }

  private final class Stream implements ResponseStream {
    private final Executor loop;

    Stream(Executor loop) {
      this.loop = loop;
    }

    @Override
    public boolean write(byte[] bytes, Duration patience) throws InterruptedException {
      return write(bytes, patience, () -> response.reset());
    }

    @Override
    public boolean write(byte[] bytes, Duration patience, byte[] lastWords)
        throws InterruptedException {
      return write(bytes, patience, () -> endWith(lastWords));
    }

    private boolean write(byte[] bytes, Duration patience, Runnable whenLate)
        throws InterruptedException {
      var written = new CompletableFuture<Void>();
      loop.execute(() -> writePiece(bytes, written));
      if (isDoneIn(written, patience)) {
        return true;
      }
      loop.execute(whenLate);
      return false;
    }

    /** Waits in short steps: a server that shuts down has less patience. */
    private boolean isDoneIn(CompletableFuture<Void> written, Duration patience)
        throws InterruptedException {
      long left = patience.toNanos();
      while (left > 0) {
        long step = Math.min(left, STEP.toNanos());
        try {
          written.get(step, TimeUnit.NANOSECONDS);
          return true;
        } catch (ExecutionException e) {
          throw new ClientGone();
        } catch (TimeoutException e) {
          left -= waiting.isOpen() ? step : Math.max(step, left / 2);
        }
      }
      return false;
    }

    /** Ends the answer behind what still waits at the socket, and cuts what does not move. */
    private void endWith(byte[] lastWords) {
      if (response.closed() || response.ended()) {
        return;
      }
      response.end(Buffer.buffer(lastWords)).onComplete(done -> request.connection().close());
      Vertx.currentContext()
          .owner()
          .setTimer(LAST_PATIENCE.toMillis(), fired -> cut(request.connection()));
    }

    /** Closing a connection waits for its bytes to leave; this one's do not. */
    private static void cut(HttpConnection connection) {
      if (connection instanceof ConnectionBase base) {
        var unused = base.channel().close();
      }
    }

    private void writePiece(byte[] bytes, CompletableFuture<Void> written) {
      if (response.closed() || response.ended()) {
        written.completeExceptionally(new ClientGone());
      } else {
        response.write(Buffer.buffer(bytes)).onComplete(result -> settle(written, result));
      }
    }

    @Override
    public <T> Optional<T> await(Wait<T> wait) throws Exception {
      return waiting.await(wait);
    }

    @Override
    public boolean isOpen() {
      return waiting.isOpen();
    }
  }
}
