package dev.sessionkeeper.postgres;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts consumers that wait for messages of a session they hold. */
final class WaitingReceivers {
  private final AtomicInteger count = new AtomicInteger();
  private final Runnable onWait;

  /**
   * Counts.
   *
   * @param onWait runs when another consumer begins to wait
   */
  WaitingReceivers(Runnable onWait) {
    this.onWait = onWait;
  }

  void begin() {
    count.incrementAndGet();
    onWait.run();
  }

  void end() {
    count.decrementAndGet();
  }

  boolean isAnyWaiting() {
    return count.get() > 0;
  }
}
