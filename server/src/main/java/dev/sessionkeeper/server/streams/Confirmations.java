package dev.sessionkeeper.server.streams;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Decides when an event that was written counts as received.
 *
 * <p>A socket takes bytes for a client that has just closed it, and tells so only a moment later.
 * So a write proves nothing by itself: an event counts when the connection is still open some time
 * after it was written. What was written shortly before the end comes again, which a client that
 * knows its last id does not even see; nothing is skipped.
 */
final class Confirmations {
  /** How long the connection must have stayed open after a write. */
  static final Duration GRACE = Duration.ofMillis(400);

  /** Events written within this time are confirmed together, so that memory stays bounded. */
  private static final Duration WINDOW = Duration.ofMillis(50);

  private final Deque<Window> windows = new ArrayDeque<>();

  private static final class Window {
    final long opened;
    long upTo;

    Window(long opened) {
      this.opened = opened;
    }

    long due() {
      return opened + WINDOW.plus(GRACE).toNanos();
    }
  }

  /** The socket has taken all events up to this one. */
  void written(long event, long now) {
    var current = windows.peekLast();
    if (current == null || now - current.opened >= WINDOW.toNanos()) {
      current = new Window(now);
      windows.addLast(current);
    }
    current.upTo = event;
  }

  /** The last event that counts now, given that the connection is open; empty if none is new. */
  OptionalLong confirm(long now) {
    var confirmed = OptionalLong.empty();
    while (!windows.isEmpty() && windows.peekFirst().due() - now <= 0) {
      confirmed = OptionalLong.of(windows.removeFirst().upTo);
    }
    return confirmed;
  }

  /** How long until something can be confirmed; empty when nothing waits. */
  Optional<Duration> untilNext(long now) {
    var first = windows.peekFirst();
    return first == null
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(Math.max(0, first.due() - now)));
  }

  /** How long until all that was written can be confirmed. */
  Duration untilAll(long now) {
    var last = windows.peekLast();
    return last == null ? Duration.ZERO : Duration.ofNanos(Math.max(0, last.due() - now));
  }
}
