package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Fencing tokens for sessions of a broker that has none. Safe for any thread.
 *
 * <p>An epoch is one more than the last known one, from this process or from the session's record.
 * It is also at least the sum of the broker's time of the lock in milliseconds and the sequence
 * number of the first message. Neither ever falls for a session, and from one owner to the next at
 * least one of them grows. So nothing has to be written before a session is delivered, and an empty
 * session can be forgotten.
 */
final class Epochs {
  private static final int REMEMBERED = 10_000;

  /** Sequence numbers of partitioned queues begin with the number of the partition. */
  private static final long WITHOUT_PARTITION = (1L << 48) - 1;

  private final Map<SessionId, Long> last =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<SessionId, Long> eldest) {
          return size() > REMEMBERED;
        }
      };

  /** Returns the lowest epoch of an owner with this lock time and first message. */
  static long first(Instant lockTaken, long sequence) {
    return Math.max(1, lockTaken.toEpochMilli() + (sequence & WITHOUT_PARTITION));
  }

  /**
   * Returns the epoch of a new owner.
   *
   * @param recorded the last one in the session's record
   */
  long next(SessionId session, long recorded, Instant lockTaken, long sequence) {
    synchronized (last) {
      var known = last.remove(session); // Reinserted, so that the entry is the newest.
      long epoch =
          Math.max(first(lockTaken, sequence), Math.max(recorded, known == null ? 0 : known) + 1);
      last.put(session, epoch);
      return epoch;
    }
  }
}
