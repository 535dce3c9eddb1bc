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

  /**
   * The failures of one message.
   *
   * @param times in the outage that lasts; 0 when the endpoint has answered since
   * @param posts in all outages
   */
  private record Outage(long since, int times, int posts) {
    Outage again(long now) {
      return new Outage(times == 0 ? now : since, times + 1, posts + 1);
    }
  }

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
            message, new Outage(time.nanoTime(), 1, 1), (before, now) -> before.again(now.since()));
    return new Met(time.since(outage.since()), outage.times());
  }

  /** How often this message was posted in vain because the endpoint was out of order. */
  synchronized int postsOf(MessageId message) {
    var outage = open.get(message);
    return outage == null ? 0 : outage.posts();
  }

  /** The endpoint answered for this message, which will be posted again. */
  synchronized void answered(MessageId message) {
    open.computeIfPresent(message, (id, outage) -> new Outage(outage.since(), 0, outage.posts()));
  }

  /** The message was delivered or given up. */
  synchronized void over(MessageId message) {
    open.remove(message);
  }
}
