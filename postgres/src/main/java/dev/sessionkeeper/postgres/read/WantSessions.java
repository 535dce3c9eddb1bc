package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;

/**
 * Asks the readers of a queue for sessions while consumers of this process wait and there is none.
 * The polls of the queue call this class, one after the other.
 */
final class WantSessions {
  /**
   * A process whose consumers wait longer than this takes a part. Until then readers give it single
   * sessions.
   */
  private static final Duration JOIN_AFTER = Duration.ofMillis(300);

  private static final long PATIENCE_NANOS = Duration.ofMillis(100).toNanos();
  private static final Duration WANT_AGAIN = Duration.ofMillis(50);
  private static final Duration MOST_WANT_AGAIN = Duration.ofSeconds(2);

  private final QueueContext queue;
  private final Polling polling;
  private final TimeSource time;
  private final AskTable asks;
  private long wantedAt;
  private long wantedSince;
  private boolean isWanted;
  private Duration wantAgain = WANT_AGAIN;

  WantSessions(QueueContext queue, Polling polling, AskTable asks) {
    this.queue = queue;
    this.polling = polling;
    this.time = queue.time();
    this.asks = asks;
    this.wantedAt = time.nanoTime();
    this.wantedSince = wantedAt;
  }

  /** Records that no consumer waits in vain. */
  void none() {
    isWanted = false;
    wantAgain = WANT_AGAIN;
  }

  /**
   * Asks, unless it has asked a moment ago.
   *
   * @param count how many consumers wait
   * @param isReading whether this process has a part itself
   */
  void some(int count, boolean isReading) {
    long now = time.nanoTime();
    boolean isNew = !isWanted;
    if (isNew) {
      isWanted = true;
      wantedSince = now;
    }
    // A process with a part mostly gets sessions of it in a moment.
    boolean isPatient = isReading && now - wantedSince < PATIENCE_NANOS;
    if ((isNew && !isReading) || (!isPatient && now - wantedAt > wantAgain.toNanos())) {
      wantedAt = now;
      wantAgain = min(wantAgain.multipliedBy(2), MOST_WANT_AGAIN);
      if (asks.wantSessions(count)) {
        queue.tellReaders();
      }
    }
    polling.timer().fireWithin(wantAgain);
  }

  /** Returns whether consumers have waited so long that this process should take a part. */
  boolean isPartNeeded() {
    boolean isNeeded = isWanted && time.since(wantedSince).compareTo(JOIN_AFTER) >= 0;
    if (isWanted && !isNeeded) {
      polling.timer().fireWithin(JOIN_AFTER);
    }
    return isNeeded;
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
