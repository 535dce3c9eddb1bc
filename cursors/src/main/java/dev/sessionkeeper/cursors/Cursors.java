package dev.sessionkeeper.cursors;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.LastValueStore;
import dev.sessionkeeper.coalescing.ListedValues;
import dev.sessionkeeper.coalescing.Outcome;
import dev.sessionkeeper.time.TimeSource;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;

/** The cursors of all subscribers, with trackers that move them. */
public final class Cursors {
  private final LastValueStore<String, String> store;
  private final CoalescingWriter<String, String> writer;
  private final TimeSource time;

  private Cursors(
      LastValueStore<String, String> store,
      CoalescingWriter<String, String> writer,
      TimeSource time) {
    this.store = store;
    this.writer = writer;
    this.time = time;
  }

  /**
   * Returns cursors in a store, moved through a writer of that store. The caller closes the writer.
   */
  public static Cursors of(
      LastValueStore<String, String> store,
      CoalescingWriter<String, String> writer,
      TimeSource time) {
    return new Cursors(store, writer, time);
  }

  /**
   * Returns the last event that the subscriber has acknowledged; empty if there is none. Includes
   * positions that this process has not written yet.
   */
  public OptionalLong position(CursorKey key) {
    // Asks the writer first: a value that is written in between is then seen in the store.
    var pending = writer.pending(key.asText());
    var stored = store.read(key.asText());
    if (pending.isEmpty() && stored.isEmpty()) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(
        Math.max(
            pending.map(LastValueStore.Entry::version).orElse(0L),
            stored.map(LastValueStore.Entry::version).orElse(0L)));
  }

  /** Returns the stored cursors on a stream, by subscriber. */
  public static SortedMap<String, Long> positions(ListedValues store, String stream, int most) {
    var prefix = CursorKey.prefixOf(stream);
    var positions = new TreeMap<String, Long>();
    for (var entry : store.startingWith(prefix, most)) {
      positions.put(entry.key().substring(prefix.length()), entry.version());
    }
    return positions;
  }

  /**
   * Acknowledges all events up to this one. The position never falls: an older event changes
   * nothing.
   *
   * @return completes when the position, or a later one, is durable
   */
  public CompletionStage<Outcome> acknowledge(CursorKey key, long event) {
    return writer.submit(key.asText(), event, Long.toString(event));
  }

  /**
   * Returns a tracker for one connection of the subscriber.
   *
   * @param from the last event that the subscriber has; the next one it gets is the one after
   */
  public EventTracker track(CursorKey key, long from) {
    return new EventTracker(writer, time, key, from);
  }
}
