package dev.sessionkeeper.server.http;

import io.netty.buffer.Unpooled;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Writes one response. Vert.x objects are used on the event loop only. */
final class WriteResponse {
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

  /** Writes a whole response; on the event loop. */
  Future<Void> write(Response answer, boolean close) {
    if (response.closed() || response.ended()) {
      return Future.failedFuture(new ClientGone());
    }
    boolean last = close || lastOfConnection.getAsBoolean();
    head(answer, last);
    var written =
        answer.body() instanceof Response.Body.Bytes body && body.size() > 0
            ? response.end(buffer(body))
            : response.end();
    return last ? written.onComplete(done -> request.connection().close()) : written;
  }

  /** Returns the bytes without a copy; nothing changes them. Vert.x 4 has no other way for that. */
  @SuppressWarnings("deprecation")
  private static Buffer buffer(Response.Body.Bytes body) {
    return Buffer.buffer(Unpooled.wrappedBuffer(body.pieces().toArray(byte[][]::new)));
  }

  /**
   * Writes a response after which the connection closes. The response is not ended before, so that
   * Vert.x serves no further request of the connection.
   *
   * @param whenToClose runs the closing task at once, or after the client had time to read
   */
  Future<Void> writeAndLinger(Response answer, Consumer<Runnable> whenToClose) {
    if (response.closed() || response.ended()) {
      return Future.failedFuture(new ClientGone());
    }
    head(answer, true);
    var bytes = answer.body() instanceof Response.Body.Bytes body ? buffer(body) : Buffer.buffer();
    response.putHeader("Content-Length", String.valueOf(bytes.length()));
    return response
        .write(bytes)
        .onComplete(written -> whenToClose.accept(() -> request.connection().close()));
  }

  /**
   * Closes the connection of a client that reads nothing. Closing it through Vert.x or the channel
   * would wait until the pending bytes are sent.
   */
  static void cut(HttpConnection connection) {
    if (connection instanceof ConnectionBase base) {
      var unused = base.channelHandlerContext().close();
    }
  }

  /**
   * Writes a whole response and waits for the socket. Returns whether the socket took the bytes.
   */
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

  /**
   * Writes the head, runs the writer, then ends the response. If the writer fails, the response is
   * not ended, so that the client does not take it for complete; the caller closes the connection.
   *
   * @param memory holds what the writer reserves
   */
  void stream(Response answer, Response.StreamBody writer, Executor loop, MemoryBudget.Share memory)
      throws Exception {
    loop.execute(
        () -> {
          if (!response.closed()) {
            head(answer, false);
            response.setChunked(true);
            response.write(Buffer.buffer());
          }
        });
    writer.writeTo(new WriteStream(request, waiting, loop, memory));
    loop.execute(
        () -> {
          if (!response.closed() && !response.ended()) {
            response.end();
          }
        });
  }

  /** Ends a streamed response after the bytes written so far; on the event loop. */
  void cut() {
    if (!response.closed() && !response.ended()) {
      WriteStream.endWith(request, new byte[0]);
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

  static void settle(CompletableFuture<Void> future, AsyncResult<Void> result) {
    if (result.succeeded()) {
      future.complete(null);
    } else {
      future.completeExceptionally(result.cause());
    }
  }
}
