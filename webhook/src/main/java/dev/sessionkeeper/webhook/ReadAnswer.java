package dev.sessionkeeper.webhook;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads an HTTP/1.1 answer, bounded in size, because the receiver is not trusted. */
final class ReadAnswer {
  /** The most bytes of the body that are kept. */
  static final int KEPT = 2048;

  /** The most bytes of the body that are read, so that a receiver can finish its answer. */
  static final int READ = 64 * 1024;

  private static final long UNTIL_CLOSED = Long.MAX_VALUE;
  private static final int MOST_HEADER_BYTES = 32 * 1024;
  private static final int MOST_INTERIM_ANSWERS = 8;
  private static final Pattern STATUS_LINE =
      Pattern.compile("HTTP/1\\.([01]) ([1-9][0-9]{2})( .*)?");
  private static final Pattern CHUNK = Pattern.compile("([0-9a-fA-F]{1,8})\\s*(;.*)?");

  private static final Pattern KEEP_ALIVE = Pattern.compile(".*?timeout=([0-9]{1,6}).*");

  /** Status and headers, with names in lower case. */
  record Head(int status, boolean isOld, Map<String, String> headers) {
    /** Returns how long the connection may wait for another request; empty if it must be closed. */
    Optional<Duration> keptFor(Duration most) {
      boolean closes = header("connection").orElse("").toLowerCase(Locale.ROOT).contains("close");
      if (isOld || closes || status == 101) {
        return Optional.empty();
      }
      var offered =
          header("keep-alive")
              .map(KEEP_ALIVE::matcher)
              .filter(Matcher::matches)
              // A second less, because a request sent at the last moment arrives too late.
              .map(found -> Duration.ofSeconds(Long.parseLong(found.group(1)) - 1));
      return offered
          .filter(its -> its.compareTo(most) < 0)
          .or(() -> Optional.of(most))
          .filter(Duration::isPositive);
    }

    Optional<String> header(String name) {
      return Optional.ofNullable(headers.get(name));
    }
  }

  private final InputStream in;
  private int headerBytes;
  private int bodyBytes;

  ReadAnswer(InputStream in) {
    this.in = in;
  }

  /** Returns the final answer's head; skips interim answers. */
  Head head() throws IOException {
    for (int i = 0; i < MOST_INTERIM_ANSWERS; i++) {
      var head = oneHead();
      if (head.status() >= 200 || head.status() == 101) {
        return head;
      }
    }
    throw new ProtocolException("answered with nothing but interim answers");
  }

  /**
   * The result of reading a body.
   *
   * @param text its beginning; whatever had arrived if the receiver stopped
   * @param whole false if the connection ended before the announced end
   * @param framed whether the body had a definite end, so that another answer may follow
   */
  record Body(String text, boolean whole, boolean framed) {}

  /** Reads the body. A body that takes too long is abandoned, and counts as whole. */
  Body body(Head head) {
    boolean whole = true;
    boolean framed = false;
    var kept = new ByteArrayOutputStream();
    try {
      framed = isChunked(head) ? readChunks(kept) : copy(lengthOf(head), kept);
    } catch (SocketTimeoutException slow) {
      // The status has arrived and the connection is open, which is answer enough.
      whole = true;
    } catch (IOException brokenOff) {
      whole = lengthOf(head) == UNTIL_CLOSED && !isChunked(head);
    }
    return new Body(kept.toString(StandardCharsets.UTF_8), whole, framed);
  }

  private Head oneHead() throws IOException {
    var status = STATUS_LINE.matcher(line());
    if (!status.matches()) {
      throw new ProtocolException("answered with something that is not HTTP/1.1");
    }
    var headers = new HashMap<String, String>();
    for (var line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        headers.putIfAbsent(
            line.substring(0, colon).strip().toLowerCase(Locale.ROOT),
            line.substring(colon + 1).strip());
      }
    }
    return new Head(Integer.parseInt(status.group(2)), status.group(1).equals("0"), headers);
  }

  /** Returns whether the last chunk and its trailers were read. */
  private boolean readChunks(ByteArrayOutputStream kept) throws IOException {
    while (bodyBytes < READ) {
      var size = CHUNK.matcher(line());
      if (!size.matches()) {
        return false;
      }
      long length = Long.parseLong(size.group(1), 16);
      if (length == 0) {
        return readTrailers();
      }
      copy(length, kept);
      line();
    }
    return false;
  }

  /**
   * Reads the trailers. The last chunk has arrived, so the answer is whole. Returns whether the
   * trailers were complete.
   */
  private boolean readTrailers() {
    try {
      // Trailers are ignored, except for their end.
      String line;
      do {
        line = line();
      } while (!line.isEmpty());
      return true;
    } catch (IOException brokenOff) {
      return false;
    }
  }

  /** Returns whether the whole answer was read. */
  private boolean copy(long length, ByteArrayOutputStream kept) throws IOException {
    var buffer = new byte[512];
    long left = length;
    while (left > 0 && bodyBytes < READ) {
      int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
      if (read < 0) {
        if (length != UNTIL_CLOSED) {
          throw new EOFException("broke off its answer");
        }
        return false;
      }
      kept.write(buffer, 0, Math.min(read, KEPT - kept.size()));
      bodyBytes += read;
      left -= read;
    }
    return left == 0;
  }

  private static boolean isChunked(Head head) {
    return head.header("transfer-encoding").orElse("").toLowerCase(Locale.ROOT).contains("chunked");
  }

  private static long lengthOf(Head head) {
    if (head.status() == 204 || head.status() == 304) {
      return 0;
    }
    return head.header("content-length")
        .filter(text -> text.matches("[0-9]{1,18}"))
        .map(Long::parseLong)
        .orElse(UNTIL_CLOSED);
  }

  private String line() throws IOException {
    var line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("closed the connection before it answered");
      }
      if (++headerBytes > MOST_HEADER_BYTES) {
        throw new ProtocolException("answered with more than 32 KiB of headers");
      }
      line.append((char) c);
    }
    int end = line.length();
    return line.substring(0, end > 0 && line.charAt(end - 1) == '\r' ? end - 1 : end);
  }
}
