package dev.sessionkeeper.server.http;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Writes a streamed response piece by piece, each after the socket has taken the previous one. */
final class WriteStream implements ResponseStream {
  private static final Duration STEP = Duration.ofMillis(250);
  private static final Duration LAST_PATIENCE = Duration.ofSeconds(5);
  private static final Duration NEXT_LOOK = Duration.ofMillis(100);

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final Waiting waiting;
  private final Executor loop;
  private final MemoryBudget.Share memory;

  WriteStream(
      HttpServerRequest request, Waiting waiting, Executor loop, MemoryBudget.Share memory) {
    this.request = request;
    this.response = request.response();
    this.waiting = waiting;
    this.loop = loop;
    this.memory = memory;
  }

  @Override
  public boolean reserve(long bytes, Duration patience) throws InterruptedException {
    long left = patience.toNanos();
    while (!memory.resizeTo(bytes)) {
      if (left <= 0 || !waiting.isOpen()) {
        return false;
      }
      Thread.sleep(NEXT_LOOK);
      left -= NEXT_LOOK.toNanos();
    }
    return true;
  }

  @Override
  public boolean write(byte[] bytes, Duration patience) throws InterruptedException {
    return write(bytes, patience, () -> response.reset());
  }

  @Override
  public boolean write(byte[] bytes, Duration patience, byte[] lastWords)
      throws InterruptedException {
    return write(bytes, patience, () -> endWith(request, lastWords));
  }

  private boolean write(byte[] bytes, Duration patience, Runnable whenLate)
      throws InterruptedException {
    var written = new CompletableFuture<Void>();
    loop.execute(() -> writePiece(bytes, written));
    if (awaitWritten(written, patience)) {
      return true;
    }
    loop.execute(whenLate);
    return false;
  }

  /** Waits in short steps; once the server shuts down, each step halves the time that is left. */
  private boolean awaitWritten(CompletableFuture<Void> written, Duration patience)
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

  /** Ends the response after the pending bytes, and closes a connection that takes none. */
  static void endWith(HttpServerRequest request, byte[] lastWords) {
    var response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    response.end(Buffer.buffer(lastWords)).onComplete(done -> request.connection().close());
    Vertx.currentContext()
        .owner()
        .setTimer(LAST_PATIENCE.toMillis(), fired -> WriteResponse.cut(request.connection()));
  }

  private void writePiece(byte[] bytes, CompletableFuture<Void> written) {
    if (response.closed() || response.ended()) {
      written.completeExceptionally(new ClientGone());
    } else {
      response
          .write(Buffer.buffer(bytes))
          .onComplete(result -> WriteResponse.settle(written, result));
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
