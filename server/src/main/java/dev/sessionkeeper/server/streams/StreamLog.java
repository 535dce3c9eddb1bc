package dev.sessionkeeper.server.streams;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Stores the events of all streams. A stream exists from its first event on; before, it reads as
 * empty.
 */
interface StreamLog {

  /**
   * Appends events in this order, all or none; they are durable when the call returns. An event
   * whose key is in the stream already is a duplicate and is not appended.
   *
   * @return one entry per event, in the same order
   */
  List<NewEvent.Appended> append(String stream, List<NewEvent> events);

  /**
   * Returns the number of the event with this external id; empty if there is none, or it was
   * deleted.
   */
  OptionalLong find(String stream, String externalId);

  /** Returns streams whose names follow this one and begin with the prefix, in order. */
  List<Named> list(String prefix, String after, int limit);

  /** A stream and its bounds. */
  record Named(String name, Bounds bounds) {}

  /**
   * Returns the events after a number, oldest first: at most so many, and at most so many bytes of
   * data, but at least one event if there is one.
   */
  List<StreamEvent> read(String stream, long after, int limit, long maxBytes);

  Bounds bounds(String stream);

  /** Returns the number of the last event of each stream that has one. */
  Map<String, Long> lastIds(Collection<String> streams);

  /**
   * Deletes events older than this age, a bounded number at a time.
   *
   * @return how many were deleted
   */
  int forgetOlderThan(Duration age, int most);

  /**
   * The first and the last event of a stream.
   *
   * @param first the number of the oldest stored event, or of the next one
   * @param last the number of the newest event; 0 before the first one
   */
  record Bounds(long first, long last) {
    static final Bounds EMPTY = new Bounds(1, 0);
  }
}
