package dev.sessionkeeper.server.streams;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Keeps the events of all streams. A stream exists from its first event on; before, it reads as
 * empty.
 */
interface StreamLog {

  /**
   * Appends events in this order, all or none. They are durable then. An event whose key the stream
   * has already is a duplicate and is not appended again.
   *
   * @return one entry per event, in the same order
   */
  List<NewEvent.Appended> append(String stream, List<NewEvent> events);

  /** The number of the event that has this external id; empty when there is none, or no longer. */
  OptionalLong find(String stream, String externalId);

  /** Streams by name that come after this one and begin with the prefix. */
  List<Named> list(String prefix, String after, int limit);

  /** A stream and what it holds. */
  record Named(String name, Bounds bounds) {}

  /**
   * The events after a number, oldest first: at most so many, and fewer when they are large. Empty
   * when there is none.
   */
  List<StreamEvent> read(String stream, long after, int limit);

  Bounds bounds(String stream);

  /** The numbers of the last events of those streams that have one. */
  Map<String, Long> lastIds(Collection<String> streams);

  /**
   * Forgets events that are older than this, at most so many.
   *
   * @return how many were forgotten
   */
  int forgetOlderThan(Duration age, int most);

  /**
   * The first and the last event of a stream.
   *
   * @param first the number of the oldest event that is still kept, or that will come first
   * @param last the number of the newest event; 0 before the first one
   */
  record Bounds(long first, long last) {
    static final Bounds EMPTY = new Bounds(1, 0);
  }
}
