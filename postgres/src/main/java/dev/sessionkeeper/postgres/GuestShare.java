package dev.sessionkeeper.postgres;

import java.time.Duration;

/**
 * Decides how many sessions other processes get from the one that reads a queue.
 *
 * <p>A session that another process gets costs the database several rows. That is worth it where
 * handlers take time, because then the slots of one process are what limits the queue. Where
 * sessions fly by, it would only slow the reader down, so others get few.
 */
final class GuestShare {
  private static final long WINDOW_NANOS = Duration.ofMillis(250).toNanos();

  /** Sessions per second that the reader's own consumers take; below it none of them is fast. */
  private static final long MANY_PER_SECOND = 2000;

  private static final long SHORT_HOLD_NANOS = Duration.ofMillis(50).toNanos();
  private static final int FEW_PART = 16;

  /** Sessions that others get at once. */
  private static final int MOST = 256;

  private Seen then;
  private long allowed = MOST;

  /**
   * What the reader's own consumers have done.
   *
   * @param at a moment
   * @param taken sessions that they took until then
   * @param heldNanos how long they held those which they have given back
   */
  record Seen(long at, long taken, long heldNanos) {}

  GuestShare(Seen begin) {
    this.then = begin;
  }

  /** How many of the sessions that wait others may get now. */
  int most(Seen now, int waiting) {
    long elapsed = now.at - then.at;
    if (elapsed >= WINDOW_NANOS) {
      long taken = now.taken - then.taken;
      boolean areMany = taken * Duration.ofSeconds(1).toNanos() > MANY_PER_SECOND * elapsed;
      boolean areShort = now.heldNanos - then.heldNanos < taken * SHORT_HOLD_NANOS;
      allowed = areMany && areShort ? taken / FEW_PART : Long.MAX_VALUE;
      then = now;
    }
    return (int) Math.min(allowed, Math.min(MOST, (waiting + 1) / 2));
  }

  /** They have got so many. */
  void gave(int count) {
    allowed -= count;
  }
}
