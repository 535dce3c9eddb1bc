package dev.sessionkeeper.server.streams;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Where a reader begins.
 *
 * @param after the last event that it has, or is taken to have
 * @param gap what to tell it first, when events it asked for are gone
 */
record StartingPoint(long after, Optional<Frame> gap) {

  /**
   * Where a reader begins that has the events up to this one; at the end of the stream when it has
   * none.
   */
  static StartingPoint of(OptionalLong had, StreamLog.Bounds bounds) {
    if (had.isEmpty()) {
      return new StartingPoint(bounds.last(), Optional.empty());
    }
    long last = had.getAsLong();
    if (last + 1 < bounds.first() || last > bounds.last()) {
      // Older than what is kept, or from another life of the stream: all that is kept is news.
      return new StartingPoint(bounds.first() - 1, Optional.of(Frame.gap(last, bounds.first())));
    }
    return new StartingPoint(last, Optional.empty());
  }
}
