package dev.sessionkeeper.sqs;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.function.Supplier;

/** The ids that this process has sent within the duplicate window, with their sequence numbers. */
final class RecentIds {
  private static final int REMEMBERED = 100_000;

  private final TimeSource time;
  private final Supplier<Duration> window;
  private final LinkedHashMap<MessageId, Entry> sent = new LinkedHashMap<>();

  RecentIds(TimeSource time, Supplier<Duration> window) {
    this.time = time;
    this.window = window;
  }

  synchronized Optional<Long> find(MessageId id) {
    var entry = sent.get(id);
    return entry == null || time.since(entry.at()).compareTo(window.get()) >= 0
        ? Optional.empty()
        : Optional.of(entry.sequence());
  }

  synchronized void add(MessageId id, long sequence) {
    sent.remove(id);
    sent.put(id, new Entry(sequence, time.nanoTime()));
    if (sent.size() > REMEMBERED) {
      sent.remove(sent.keySet().iterator().next());
    }
  }

  synchronized void forget(MessageId id) {
    sent.remove(id);
  }

  private record Entry(long sequence, long at) {}
}
