package dev.sessionkeeper.server.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes in the body of one request, up to a limit, on the event loop.
 *
 * <p>What is over the limit, or belongs to a request that is refused anyway, is read and dropped: a
 * client that is still sending would not see an answer on a connection that is reset. Only what
 * goes on for too long is cut off.
 */
final class ReadBody {
  private static final long MOST_DROPPED = 64L << 20;

  /** What follows the last byte. */
  interface Then {
    void serve(byte[] body);

    /** Answers with the problem. When the body was cut off the connection cannot be used again. */
    void refuse(Problem problem, boolean cut);
  }

  private final HttpServerRequest request;
  private final AtomicLong budget;
  private final long max;
  private final Then then;
  private Optional<Problem> refusal = Optional.empty();
  private Buffer buffer = Buffer.buffer();
  private long dropped;
  private boolean ended;

  /**
   * Prepares.
   *
   * @param budget how many bytes may still be held, over all requests
   */
  ReadBody(HttpServerRequest request, AtomicLong budget, long max, Then then) {
    this.request = request;
    this.budget = budget;
    this.max = max;
    this.then = then;
  }

  /** Refuses the request once its body is out of the way. */
  void refuse(Problem problem) {
    budget.addAndGet(buffer.length());
    buffer = Buffer.buffer();
    refusal = Optional.of(problem);
  }

  void start() {
    request.handler(this::take);
    request.endHandler(done -> end(false));
    if (refusal.isEmpty() && declaredLength() > max) {
      refuse(tooLarge(declaredLength()));
    }
    if (refusal.isPresent()) {
      // A client that waits for our word has not begun to send, and need not begin.
      if (expectsContinue() || declaredLength() > MOST_DROPPED) {
        end(true);
      }
    } else if (expectsContinue()) {
      request.response().writeContinue();
    }
  }

  private void take(Buffer chunk) {
    if (refusal.isEmpty() && buffer.length() + (long) chunk.length() > max) {
      refuse(tooLarge(buffer.length() + (long) chunk.length()));
    }
    if (refusal.isPresent()) {
      dropped += chunk.length();
      if (dropped > MOST_DROPPED) {
        end(true);
      }
    } else if (budget.addAndGet(-chunk.length()) < 0) {
      budget.addAndGet(chunk.length());
      refuse(ProblemType.OVERLOADED.with("Too many bytes are on their way in; try again"));
    } else {
      buffer.appendBuffer(chunk);
    }
  }

  /** Ends it now, whatever is still to come. */
  void cut(Problem problem) {
    refuse(problem);
    end(true);
  }

  private void end(boolean cut) {
    if (ended) {
      return;
    }
    ended = true;
    if (refusal.isPresent()) {
      then.refuse(refusal.get(), cut);
      return;
    }
    var bytes = buffer.getBytes();
    budget.addAndGet(bytes.length);
    buffer = Buffer.buffer();
    then.serve(bytes);
  }

  private Problem tooLarge(long actual) {
    return ProblemType.TOO_LARGE
        .with("The body of this request may have " + max + " bytes")
        .and("limit", "maxRequestBytes")
        .and("allowed", max)
        .and("actual", actual);
  }

  private boolean expectsContinue() {
    return "100-continue".equalsIgnoreCase(request.getHeader("Expect"));
  }

  private long declaredLength() {
    var length = request.getHeader("Content-Length");
    return length == null ? 0 : Long.parseLong(length);
  }
}
