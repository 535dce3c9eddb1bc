package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.EventTracker;
import dev.sessionkeeper.server.http.ReaderPlaces;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.ResponseStream;
import dev.sessionkeeper.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Writes a stream to one reader, from its starting point until the reader or the server closes.
 *
 * <p>Runs on the request's thread. I1: events are written in the order of their numbers, each once,
 * and a number is skipped only after a {@code gap}. I2: at most {@value #PIECE} bytes, or one
 * larger event, are read and not yet sent, and their memory is reserved; so slow readers wait for
 * each other and fill no memory.
 */
final class ReadStream implements Response.StreamBody {
  private static final int PIECE = 64 << 10;
  private static final int PAGE = 200;
  private static final long RECONNECT_MILLIS = 1_000;

  private final Streams streams;
  private final String stream;
  private final StartingPoint start;
  private final long end;
  private final Optional<EventTracker> tracker;
  private final Optional<Predicate<StreamEvent>> only;
  private final Confirmations confirmations = new Confirmations();
  private final ReaderPlaces.Place place;
  private final TimeSource time;
  private long sent;
  private long lastWrite;

  /**
   * Creates the writer for a connected reader.
   *
   * @param end the last event of the stream when the reader connected
   * @param tracker moves the position of a named subscriber that does not acknowledge
   * @param only selects the visible events; all if empty
   * @param place is released when the response has ended
   */
  ReadStream(
      Streams streams,
      String stream,
      StartingPoint start,
      long end,
      Optional<EventTracker> tracker,
      Optional<Predicate<StreamEvent>> only,
      ReaderPlaces.Place place) {
    this.place = place;
    this.only = only;
    this.streams = streams;
    this.stream = stream;
    this.start = start;
    this.end = end;
    this.tracker = tracker;
    this.time = streams.time();
    this.sent = start.after();
  }

  @Override
  public void writeTo(ResponseStream out) throws Exception {
    var tail = streams.tails().join(stream, end);
    try {
      if (!greet(out)) {
        return;
      }
      boolean goesOn = true;
      while (goesOn) {
        goesOn = goOn(out, tail);
      }
    } finally {
      streams.tails().leave(tail);
    }
  }

  @Override
  public void ended() {
    place.close();
  }

  private boolean greet(ResponseStream out) throws InterruptedException {
    if (!write(out, Frame.retry(RECONNECT_MILLIS))) {
      return false;
    }
    return start.gap().isEmpty() || sendGap(out, start.gap().get());
  }

  /** Sends the next events, or waits for some. Returns false if the stream ends. */
  private boolean goOn(ResponseStream out, Tail tail) throws Exception {
    var shared = only.isPresent() ? Optional.<List<Frame>>empty() : tail.after(sent, PIECE);
    long most = shared.map(ReadStream::size).orElse((long) PIECE);
    if (!reserve(out, most, streams.config().slowReader())) {
      return false;
    }
    var next = shared.orElseGet(this::read);
    if (next.isEmpty()) {
      return reserve(out, 0, Duration.ZERO) && awaitMore(out, tail);
    }
    return reserve(out, size(next), Duration.ZERO) && send(out, next);
  }

  private static long size(List<Frame> frames) {
    return frames.stream().mapToLong(frame -> frame.bytes().length).sum();
  }

  /** Reserves memory for frames and for the copy of them that is sent. */
  private boolean reserve(ResponseStream out, long bytes, Duration patience)
      throws InterruptedException {
    if (out.reserve(2 * bytes, patience)) {
      return true;
    }
    // Without patience, because its socket may be full.
    if (!out.write(Frame.comment(" no memory"), Duration.ZERO, Frame.slowReader(sent))) {
      streams.meters().slowReader();
    }
    return false;
  }

  /** Returns the next events from the log, for a reader that is far behind. */
  private List<Frame> read() {
    if (only.isPresent()) {
      return nextVisible(only.get());
    }
    return streams.log().read(stream, sent, PAGE, PIECE).stream().map(Frame::of).toList();
  }

  /** Returns the visible events of the next page; others are skipped silently. */
  private List<Frame> nextVisible(Predicate<StreamEvent> isVisible) {
    var page = streams.log().read(stream, sent, PAGE, PIECE);
    var visible = page.stream().filter(isVisible).map(Frame::of).toList();
    if (visible.isEmpty() && !page.isEmpty()) {
      sent = page.getLast().id();
    }
    return visible;
  }

  private boolean send(ResponseStream out, List<Frame> frames) throws InterruptedException {
    long first = frames.getFirst().id();
    if (only.isEmpty() && first > sent + 1 && !sendGap(out, Frame.gap(sent, first))) {
      return false;
    }
    var piece = new ArrayList<Frame>();
    int size = 0;
    for (var frame : frames) {
      if (size > 0 && size + frame.bytes().length > PIECE) {
        if (!sendPiece(out, piece, size)) {
          return false;
        }
        piece.clear();
        size = 0;
      }
      piece.add(frame);
      size += frame.bytes().length;
    }
    return sendPiece(out, piece, size);
  }

  private boolean sendGap(ResponseStream out, Frame gap) throws InterruptedException {
    streams.meters().gap();
    return sendPiece(out, List.of(gap), gap.bytes().length);
  }

  private boolean sendPiece(ResponseStream out, List<Frame> frames, int size)
      throws InterruptedException {
    var bytes = new ByteArrayOutputStream(size);
    frames.forEach(frame -> bytes.writeBytes(frame.bytes()));
    if (!write(out, bytes.toByteArray())) {
      return false;
    }
    sent = frames.getLast().id();
    streams.meters().sent(frames.size());
    confirmations.written(sent, time.nanoTime());
    confirm();
    return true;
  }

  private boolean write(ResponseStream out, byte[] bytes) throws InterruptedException {
    if (out.write(bytes, streams.config().slowReader(), Frame.slowReader(sent))) {
      lastWrite = time.nanoTime();
      return true;
    }
    streams.meters().slowReader();
    return false;
  }

  /** Waits for the next event, for the next heartbeat, or until something can be confirmed. */
  private boolean awaitMore(ResponseStream out, Tail tail) throws Exception {
    long now = time.nanoTime();
    var silence = streams.config().heartbeat().minusNanos(now - lastWrite);
    var wait = confirmations.untilNext(now).filter(c -> c.compareTo(silence) < 0).orElse(silence);
    var grown = out.await(() -> tail.await(sent, wait));
    if (grown.isEmpty()) {
      sayGoodbye(out);
      return false;
    }
    // The wait ended without a disconnect, so the connection is open now.
    confirm();
    boolean quiet = !grown.get();
    if (quiet && time.since(lastWrite).compareTo(streams.config().heartbeat()) >= 0) {
      return write(out, Frame.comment(" heartbeat"));
    }
    return true;
  }

  private void confirm() {
    confirmations
        .confirm(time.nanoTime())
        .ifPresent(event -> tracker.ifPresent(of -> of.acknowledgeUpTo(event)));
  }

  /**
   * Ends the stream because the server shuts down. Events of the last moments count as received if
   * the reader is still connected.
   */
  private void sayGoodbye(ResponseStream out) throws InterruptedException {
    Duration rest = tracker.isEmpty() ? Duration.ZERO : confirmations.untilAll(time.nanoTime());
    Thread.sleep(rest);
    if (write(out, Frame.comment(" the server is ending"))) {
      confirm();
    }
  }
}
