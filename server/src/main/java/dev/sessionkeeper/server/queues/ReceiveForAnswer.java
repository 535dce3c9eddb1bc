package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.spi.BatchLimit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Receives no more than one answer may hold in memory.
 *
 * <p>The memory is taken before the messages are, so a server that is short of it hands out fewer
 * messages, or refuses before an attempt is used. A request that waits holds no memory meanwhile;
 * it gets a small batch when something comes.
 */
final class ReceiveForAnswer {
  /** The most bytes of messages in one answer. */
  static final long MOST_BYTES = 8L << 20;

  /** With less free memory than this a receive is refused. */
  private static final long LEAST_BYTES = 64L << 10;

  private static final long BYTES_AFTER_WAIT = 1L << 20;

  /** A provider's receive. */
  @FunctionalInterface
  interface Source<T> {
    List<T> receive(BatchLimit limit, Duration wait) throws InterruptedException;
  }

  private ReceiveForAnswer() {}

  /**
   * Receives, and waits for the first message if none is there.
   *
   * @return empty when the server shuts down
   */
  static <T> Optional<List<T>> receive(Request request, int max, Duration wait, Source<T> source)
      throws Exception {
    request.mayTake(wait);
    var fitting = new BatchLimit(max, reserve(request));
    var ready = request.await(() -> source.receive(fitting, Duration.ZERO));
    if (wait.isZero() || ready.isEmpty() || !ready.get().isEmpty()) {
      return ready;
    }
    request.unreserve();
    var small = new BatchLimit(max, BYTES_AFTER_WAIT);
    return request.await(() -> source.receive(small, wait));
  }

  /** Takes the memory of one answer. */
  static long reserve(Request request) {
    return request.reserve(LEAST_BYTES, MOST_BYTES);
  }
}
