package dev.sessionkeeper.server.streams;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Decides when a written event counts as received.
 *
 * <p>A socket accepts bytes for a client that has just closed the connection, and reports that only
 * a moment later. So an event counts as received when the connection is still open some time after
 * the write. Events written shortly before the end are sent again, which a client that resumes by
 * id does not notice; none is skipped.
 */
final class Confirmations {
  /** How long the connection must have stayed open after a write. */
  static final Duration GRACE = Duration.ofMillis(400);

  /** Events written within this time are confirmed together, which bounds the memory. */
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

  /** Records that the socket has taken all events up to this one. */
  void written(long event, long now) {
    var current = windows.peekLast();
    if (current == null || now - current.opened >= WINDOW.toNanos()) {
      current = new Window(now);
      windows.addLast(current);
    }
    current.upTo = event;
  }

  /**
   * Returns the last event that counts as received now, given that the connection is open; empty if
   * none is new.
   */
  OptionalLong confirm(long now) {
    var confirmed = OptionalLong.empty();
    while (!windows.isEmpty() && windows.peekFirst().due() - now <= 0) {
      confirmed = OptionalLong.of(windows.removeFirst().upTo);
    }
    return confirmed;
  }

  /** Returns how long until the next event can be confirmed; empty if none waits. */
  Optional<Duration> untilNext(long now) {
    var first = windows.peekFirst();
    return first == null
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(Math.max(0, first.due() - now)));
  }

  /** Returns how long until all written events can be confirmed. */
  Duration untilAll(long now) {
    var last = windows.peekLast();
    return last == null ? Duration.ZERO : Duration.ofNanos(Math.max(0, last.due() - now));
  }
}
