package dev.sessionkeeper.memory;

import dev.sessionkeeper.MessageId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/** Remembers the ids of messages for the duplicate window. Not thread-safe. */
final class DuplicateWindow {
  private final Map<MessageId, Seen> seen = new HashMap<>();
  private final ArrayDeque<Seen> oldestFirst = new ArrayDeque<>();

  /** Returns the sequence number under which this id was stored; empty if it is not remembered. */
  OptionalLong sequenceOf(MessageId id) {
    var known = seen.get(id);
    return known == null ? OptionalLong.empty() : OptionalLong.of(known.sequence);
  }

  void remember(MessageId id, long sequence, long now) {
    var fresh = new Seen(id, sequence, now);
    seen.put(id, fresh);
    oldestFirst.add(fresh);
  }

  /** Forgets ids older than the window, which may have changed since. */
  void forgetOlderThan(Duration window, long now) {
    for (var oldest = oldestFirst.peek();
        oldest != null && Ticks.later(oldest.at, window) <= now;
        oldest = oldestFirst.peek()) {
      oldestFirst.remove();
      seen.remove(oldest.id);
    }
  }

  private record Seen(MessageId id, long sequence, long at) {}
}
