package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.postgres.lease.Hold;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Holds of cached sessions, in the order in which they are checked. Holds that have ended are
 * dropped when their turn comes. Guarded by the lock of {@link CachedSessions}.
 */
public final class WatchedHolds {
  /** The longest time that a busy hold stays in memory. */
  static final long LONGEST_NANOS = Duration.ofSeconds(2).toNanos();

  private final ArrayDeque<Watched> line = new ArrayDeque<>();
  private final Predicate<Hold> isCached;

  /** A hold, and the time of its last delivery at its last check. */
  private record Watched(Hold hold, long since) {}

  WatchedHolds(Predicate<Hold> isCached) {
    this.isCached = isCached;
  }

  void add(Hold hold, long now) {
    line.addLast(new Watched(hold, now));
  }

  boolean isEmpty() {
    dropEnded();
    return line.isEmpty();
  }

  int size() {
    return (int) line.stream().filter(watched -> isCached.test(watched.hold)).count();
  }

  /** Returns the messages of all holds that were not handed out. */
  int notHandedOut() {
    int count = 0;
    for (var watched : line) {
      count += isCached.test(watched.hold) ? watched.hold.notHandedOut() : 0;
    }
    return count;
  }

  void clear() {
    line.clear();
  }

  void dropEnded() {
    while (!line.isEmpty() && !isCached.test(line.getFirst().hold)) {
      line.removeFirst();
    }
  }

  /** Returns whether it is time to check for holds that have not moved since then. */
  boolean hasQuiet(long before) {
    dropEnded();
    return !line.isEmpty() && line.getFirst().since - before < 0;
  }

  /** Removes and returns holds that have not moved since then, or that have lasted too long. */
  List<Hold> takeQuiet(long before) {
    var quiet = new ArrayList<Hold>();
    while (hasQuiet(before)) {
      var hold = line.removeFirst().hold;
      if (hold.isQuietSince(before) || before - hold.heldSince() >= LONGEST_NANOS) {
        quiet.add(hold);
      } else {
        line.addLast(new Watched(hold, Math.max(hold.lastMoved(), before)));
      }
    }
    return quiet;
  }
}
