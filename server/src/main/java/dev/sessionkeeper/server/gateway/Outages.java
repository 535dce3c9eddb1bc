package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers which messages meet an endpoint that is out of order: since when, and how often.
 *
 * <p>The memory is that of this server. A server that takes a message over begins anew, so that a
 * message is rather tried too often than given up too soon. Safe for use by many threads.
 */
final class Outages {
  private static final int REMEMBERED = 10_000;

  private final TimeSource time;
  private final LinkedHashMap<MessageId, Outage> open =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<MessageId, Outage> eldest) {
          return size() > REMEMBERED;
        }
      };

  Outages(TimeSource time) {
    this.time = time;
  }

  private record Outage(long since, int times) {}

  /**
   * What a message has met so far.
   *
   * @param lasted the time since the first failure
   * @param times how often the endpoint failed, this time included
   */
  record Met(Duration lasted, int times) {}

  /** The endpoint failed once more for this message. */
  synchronized Met again(MessageId message) {
    var outage =
        open.merge(
            message,
            new Outage(time.nanoTime(), 1),
            (before, now) -> new Outage(before.since(), before.times() + 1));
    return new Met(time.since(outage.since()), outage.times());
  }

  /** The endpoint answered for this message, or the message was given up. */
  synchronized void over(MessageId message) {
    open.remove(message);
  }
}
