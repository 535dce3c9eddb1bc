package dev.sessionkeeper.server.streams;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * The event from which a reader begins.
 *
 * @param after the last event that the reader has, or is assumed to have
 * @param gap the first frame to send if requested events were deleted
 */
record StartingPoint(long after, Optional<Frame> gap) {

  /**
   * Returns the starting point of a reader that has the events up to this one, or of a reader
   * without any, which begins at the end of the stream.
   */
  static StartingPoint of(OptionalLong had, StreamLog.Bounds bounds) {
    if (had.isEmpty()) {
      return new StartingPoint(bounds.last(), Optional.empty());
    }
    long last = had.getAsLong();
    if (last + 1 < bounds.first() || last > bounds.last()) {
      // The id is older than the stored events, or from a former stream of this name: the reader
      // gets all stored events.
      return new StartingPoint(bounds.first() - 1, Optional.of(Frame.gap(last, bounds.first())));
    }
    return new StartingPoint(last, Optional.empty());
  }
}
