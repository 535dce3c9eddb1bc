package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * What must be so before somebody looks at a queue, or empties it: what its time has come for is
 * done, and sessions have lanes where all of them must.
 */
final class BringUpToDate {
  private static final long PATIENCE_NANOS = Duration.ofMinutes(2).toNanos();
  private static final long ASK_AGAIN_NANOS = Duration.ofMillis(5).toNanos();

  private final OrderedQueue queue;

  BringUpToDate(OrderedQueue queue) {
    this.queue = queue;
  }

  /** Does at once what its time has come for. */
  void lookAtLate() {
    for (int attempt = 1; ; attempt++) {
      try {
        tryToLookAtLate();
        return;
      } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
        // A connection that broke: done twice it is the same, and who only looks need not know.
        if (!Connections.mayRepeatAfter(attempt)) {
          throw e;
        }
        Connections.pause(attempt);
      }
    }
  }

  private void tryToLookAtLate() {
    queue.alone().writeExpired();
    joinRound();
    if (queue.alone().isReading()) {
      // What that round read.
      queue.alone().writeExpired();
      joinRound();
    }
    queue.claims().wakeLanesNow();
  }

  private void joinRound() {
    Waits.join(queue.claims().join());
  }

  /** Nobody carries sessions of this queue when it returns, nor begins to for a while. */
  void requireLanes() {
    long began = queue.time().nanoTime();
    while (queue.time().nanoTime() - began < PATIENCE_NANOS) {
      queue.alone().stop();
      joinRound();
      boolean areReaders = queue.asks().toStop();
      if (!areReaders && !queue.alone().isReading()) {
        return;
      }
      LockSupport.parkNanos(ASK_AGAIN_NANOS);
    }
    throw new KeeperException.Unavailable(
        "Queue " + queue.name() + ", which another process reads alone,");
  }
}
