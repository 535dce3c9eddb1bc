package dev.sessionkeeper.server.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of one request, up to a limit, on the event loop.
 *
 * <p>The rest of a refused body is read and dropped, because a client that is still sending would
 * not see an answer on a reset connection. A body on a route that takes none is refused at once.
 * I1: {@link Then} is called once, or {@link #abandon} was.
 */
final class ReadBody {
  private static final long MOST_DROPPED = 64L << 20;

  /**
   * Smaller chunks are copied together. A buffer costs more than a hundred bytes, so a body in
   * chunks of one byte would take many times the memory that it reserves.
   */
  private static final int SMALL = 1 << 10;

  private static final int PIECE = 64 << 10;

  /** The end of the connection after a refusal. */
  enum Ending {
    /** The whole body was read: the connection can be used again. */
    KEEP,
    /**
     * The client is still sending: the answer is sent, and the connection closes a little later.
     */
    LINGER,
    /** The connection closes after the answer. */
    CLOSE
  }

  /** Continues after the last byte of the body. */
  interface Then {
    void serve(byte[] body);

    /** Answers with the problem. */
    void refuse(Problem problem, Ending ending);
  }

  private final HttpServerRequest request;
  private final MemoryBudget.Share share;
  private final BodyLimit limit;
  private final Then then;
  private final List<Buffer> chunks = new ArrayList<>();
  private @Nullable Buffer smallChunks;
  private Optional<Problem> refusal = Optional.empty();
  private long length;
  private long dropped;
  private boolean ended;

  /**
   * Prepares to read.
   *
   * @param share reserves the memory; if the body is accepted, the bytes stay reserved
   */
  ReadBody(HttpServerRequest request, MemoryBudget.Share share, BodyLimit limit, Then then) {
    this.request = request;
    this.share = share;
    this.limit = limit;
    this.then = then;
  }

  void start(Optional<Problem> refused) {
    request.handler(this::take);
    request.endHandler(done -> end(Ending.KEEP));
    refused.or(() -> limit.refuse(declaredLength())).ifPresent(this::refuse);
    if (refusal.isEmpty()) {
      if (expectsContinue()) {
        request.response().writeContinue();
      }
    } else if (refusal.get().type() == ProblemType.MALFORMED_HTTP || expectsContinue()) {
      // A client that sent Expect: 100-continue has not begun to send the body.
      end(Ending.CLOSE);
    } else if (declaredLength() > mostDropped()) {
      end(Ending.LINGER);
    }
  }

  private void refuse(Problem problem) {
    forgetBytes();
    refusal = Optional.of(problem);
  }

  private void take(Buffer chunk) {
    if (refusal.isEmpty()) {
      limit.refuse(length + chunk.length()).ifPresent(this::refuse);
    }
    if (refusal.isEmpty() && !share.grow(chunk.length())) {
      refuse(
          ProblemType.OVERLOADED
              .with("The server has no memory left for request bodies; try again later")
              .retrySoon());
    }
    if (refusal.isEmpty()) {
      length += chunk.length();
      keep(chunk);
    } else {
      dropped += chunk.length();
      if (dropped > mostDropped()) {
        end(Ending.LINGER);
      }
    }
  }

  private void keep(Buffer chunk) {
    if (chunk.length() >= SMALL) {
      chunks.add(chunk);
      smallChunks = null;
      return;
    }
    var gathered = smallChunks;
    if (gathered == null || gathered.length() >= PIECE) {
      gathered = Buffer.buffer();
      smallChunks = gathered;
      chunks.add(gathered);
    }
    gathered.appendBuffer(chunk);
  }

  /** Refuses the body now, without reading the rest. */
  void cut(Problem problem) {
    refuse(problem);
    end(Ending.CLOSE);
  }

  /** Gives up because the connection is gone. Returns whether the body was still incomplete. */
  boolean abandon() {
    if (ended) {
      return false;
    }
    ended = true;
    forgetBytes();
    return true;
  }

  private void end(Ending ending) {
    if (ended) {
      return;
    }
    ended = true;
    if (refusal.isPresent()) {
      then.refuse(refusal.get(), ending);
      return;
    }
    var body = new byte[Math.toIntExact(length)];
    int at = 0;
    for (var chunk : chunks) {
      chunk.getBytes(body, at);
      at += chunk.length();
    }
    forgetChunks();
    then.serve(body);
  }

  private void forgetBytes() {
    forgetChunks();
    share.close();
  }

  private void forgetChunks() {
    chunks.clear();
    smallChunks = null;
  }

  private long mostDropped() {
    return limit.takesBody() ? MOST_DROPPED : limit.most();
  }

  private boolean expectsContinue() {
    return "100-continue".equalsIgnoreCase(request.getHeader("Expect"));
  }

  private long declaredLength() {
    var declared = request.getHeader("Content-Length");
    return declared == null ? 0 : Long.parseLong(declared);
  }
}
