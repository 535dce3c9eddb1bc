package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Fencing tokens for sessions of a broker that has none. Safe for any thread.
 *
 * <p>An epoch is one more than the last one that is known, here or from the session's record, and
 * at least the sum of the broker's time when it gave the lock, in milliseconds, and the sequence of
 * the first message. Neither ever gets smaller for a session, and from one owner to the next at
 * least one of them grows. So nothing has to be written before a session is handed out, and an
 * empty session can be forgotten.
 */
final class Epochs {
  private static final int REMEMBERED = 10_000;

  /** Sequences of partitioned queues begin with the number of the partition. */
  private static final long WITHOUT_PARTITION = (1L << 48) - 1;

  private final Map<SessionId, Long> last =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<SessionId, Long> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** The lowest epoch of an owner who got the lock then and finds this message first. */
  static long first(Instant lockTaken, long sequence) {
    return Math.max(1, lockTaken.toEpochMilli() + (sequence & WITHOUT_PARTITION));
  }

  /**
   * The epoch of a new owner.
   *
   * @param recorded the last one by the session's record
   */
  long next(SessionId session, long recorded, Instant lockTaken, long sequence) {
    synchronized (last) {
      var known = last.remove(session); // To be the newest again.
      long epoch =
          Math.max(first(lockTaken, sequence), Math.max(recorded, known == null ? 0 : known) + 1);
      last.put(session, epoch);
      return epoch;
    }
  }
}
