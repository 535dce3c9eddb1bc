package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.spi.BatchLimit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Receives no more messages than one answer may hold in memory.
 *
 * <p>The memory is reserved before the messages are received, so a server that is short of memory
 * delivers fewer messages, or refuses before an attempt is used. While a request waits it reserves
 * no memory; when a message arrives, the request gets a small batch.
 */
final class ReceiveForAnswer {
  /** The most bytes of messages in one answer. */
  static final long MOST_BYTES = 8L << 20;

  /** A receive is refused if less memory than this is free. */
  private static final long LEAST_BYTES = 64L << 10;

  private static final long BYTES_AFTER_WAIT = 1L << 20;

  /** Calls a provider's receive. */
  @FunctionalInterface
  interface Source<T> {
    List<T> receive(BatchLimit limit, Duration wait) throws InterruptedException;
  }

  private ReceiveForAnswer() {}

  /**
   * Receives, and waits for the first message if there is none.
   *
   * @return empty if the server shuts down
   */
  static <T> Optional<List<T>> receive(Request request, int max, Duration wait, Source<T> source)
      throws Exception {
    request.extendDeadline(wait);
    var fitting = new BatchLimit(max, reserve(request));
    var ready = request.await(() -> source.receive(fitting, Duration.ZERO));
    if (wait.isZero() || ready.isEmpty() || !ready.get().isEmpty()) {
      return ready;
    }
    request.unreserve();
    var small = new BatchLimit(max, BYTES_AFTER_WAIT);
    return request.await(() -> source.receive(small, wait));
  }

  /** Reserves the memory of one answer. */
  static long reserve(Request request) {
    return request.reserve(LEAST_BYTES, MOST_BYTES);
  }
}
