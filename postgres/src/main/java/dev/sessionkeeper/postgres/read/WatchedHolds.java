package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.postgres.lease.Hold;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Holds of sessions that are carried, in the order in which they are looked at. Those that have
 * ended are dropped when they come up. Guarded by the lock of {@link CachedSessions}.
 */
public final class WatchedHolds {
  /** So long at most is a hold carried in which messages are handed out one after the other. */
  static final long LONGEST_NANOS = Duration.ofSeconds(2).toNanos();

  private final ArrayDeque<Watched> line = new ArrayDeque<>();
  private final Predicate<Hold> isCarried;

  /** A hold, and since when nothing had been handed out in it when it was looked at. */
  private record Watched(Hold lane, long since) {}

  WatchedHolds(Predicate<Hold> isCarried) {
    this.isCarried = isCarried;
  }

  void add(Hold lane, long now) {
    line.addLast(new Watched(lane, now));
  }

  boolean isEmpty() {
    dropEnded();
    return line.isEmpty();
  }

  int size() {
    return (int) line.stream().filter(hold -> isCarried.test(hold.lane)).count();
  }

  /** Messages of all of them that are in nobody's hands. */
  int notHandedOut() {
    int count = 0;
    for (var hold : line) {
      count += isCarried.test(hold.lane) ? hold.lane.notHandedOut() : 0;
    }
    return count;
  }

  void clear() {
    line.clear();
  }

  void dropEnded() {
    while (!line.isEmpty() && !isCarried.test(line.getFirst().lane)) {
      line.removeFirst();
    }
  }

  /** Whether it is time to look for those in which nothing has moved since then. */
  boolean hasQuiet(long before) {
    dropEnded();
    return !line.isEmpty() && line.getFirst().since - before < 0;
  }

  /** Those in which nothing has moved since then, and those that have lasted too long anyway. */
  List<Hold> takeQuiet(long before) {
    var quiet = new ArrayList<Hold>();
    while (hasQuiet(before)) {
      var lane = line.removeFirst().lane;
      if (lane.isQuietSince(before) || before - lane.heldSince() >= LONGEST_NANOS) {
        quiet.add(lane);
      } else {
        line.addLast(new Watched(lane, Math.max(lane.lastMoved(), before)));
      }
    }
    return quiet;
  }
}
