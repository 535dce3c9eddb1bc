package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.function.Supplier;

/** The newest ids that this process has sent within the duplicate window. */
final class RecentIds {
  private static final int REMEMBERED = 100_000;

  private final TimeSource time;
  private final Supplier<Duration> window;
  private final LinkedHashMap<MessageId, Long> sentAt = new LinkedHashMap<>();

  RecentIds(TimeSource time, Supplier<Duration> window) {
    this.time = time;
    this.window = window;
  }

  /** Adds an id. Returns false if it was sent within the window already. */
  synchronized boolean add(MessageId id) {
    if (window.get().isZero()) {
      return true;
    }
    long now = time.nanoTime();
    forget(now - window.get().toNanos());
    return sentAt.putIfAbsent(id, now) == null;
  }

  private void forget(long before) {
    var oldest = sentAt.entrySet().iterator();
    while (oldest.hasNext()) {
      if (oldest.next().getValue() - before > 0 && sentAt.size() <= REMEMBERED) {
        return;
      }
      oldest.remove();
    }
  }
}
