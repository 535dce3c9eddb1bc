package dev.sessionkeeper.processor;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A thread that accepts and serves one session after the other.
 *
 * <p>The fields that say whether the slot has a session are written by its thread for each session,
 * and read by the threads of other slots. Writes that other slots need not see at once use release
 * mode.
 */
final class Slot extends SlotsApart {
  private static final RetryPolicy BACK_OFF = RetryPolicy.forStore(Integer.MAX_VALUE);

  /** How long a slot between two sessions still counts as busy. */
  private static final long ON_ITS_WAY = Pause.nanos(Duration.ofMillis(1));

  private static final long LONG_AGO = Pause.nanos(Duration.ofDays(365));

  private static final long NOT_FREE = Long.MIN_VALUE;

  private static final AtomicReferenceFieldUpdater<Slot, Hold> HOLD =
      AtomicReferenceFieldUpdater.newUpdater(Slot.class, Hold.class, "hold");
  private static final AtomicLongFieldUpdater<Slot> FREE_SINCE =
      AtomicLongFieldUpdater.newUpdater(Slot.class, "freeSince");

  /** Open while the slot waits for work, so that the processor can interrupt the wait. */
  final InterruptGate waiting;

  /**
   * The jitter of this slot; a shared one would be contended, because each session uses it twice.
   */
  final Jitter jitter;

  private final Slots slots;
  private final Thread thread;
  private volatile @Nullable Hold hold;
  private volatile long freeSince;
  private volatile boolean retiring;
  private int failures;

  Slot(Slots slots, Thread thread, Jitter jitter, long now) {
    this.slots = slots;
    this.jitter = jitter;
    // A new slot counts as free at once, even for a thread that read the clock a moment earlier.
    this.freeSince = now - LONG_AGO;
    this.thread = thread;
    this.waiting = new InterruptGate(thread);
  }

  @Nullable Hold hold() {
    return hold;
  }

  void setHold(Hold taken) {
    hold = taken;
  }

  void clearHold() {
    HOLD.lazySet(this, null);
  }

  /**
   * Marks the slot as waiting for a session. If it gets none, it counts as free from this moment.
   */
  void markWaiting(long now) {
    if (freeSince == NOT_FREE) {
      FREE_SINCE.lazySet(this, now);
    }
  }

  /** Marks the slot as busy with a session. */
  void markBusy() {
    FREE_SINCE.lazySet(this, NOT_FREE);
  }

  /**
   * Returns whether the slot waits for a session and would accept the next one that becomes ready.
   */
  boolean isFree(long now) {
    long since = freeSince;
    return since != NOT_FREE && now - since >= ON_ITS_WAY;
  }

  boolean isCurrentThread() {
    return Thread.currentThread().equals(thread);
  }

  boolean isRetiring() {
    return retiring;
  }

  void retire(boolean retire) {
    retiring = retire;
  }

  /**
   * Returns whether to take no new message: the processor stops, or its concurrency was lowered.
   */
  boolean isCalledAway() {
    return retiring || slots.isStopping();
  }

  void worked() {
    failures = 0;
  }

  /** Waits longer after every failure in a row. Other slots are not affected. */
  void backOff(TimeSource time) {
    failures++;
    waitUnlessCalledAway(() -> Pause.sleep(time, jitter.delayAfter(BACK_OFF, failures)));
  }

  /** Runs a wait that ends early when the processor stops or needs fewer slots. */
  void waitUnlessCalledAway(Wait wait) {
    waiting.enter();
    try {
      // Checked after the gate opens: a caller that stops the slot first sets the mark, then
      // interrupts.
      if (!isCalledAway()) {
        wait.run();
      }
    } catch (InterruptedException e) {
      // The processor interrupted the wait; the worker checks {@code isCalledAway} next.
    } finally {
      waiting.leave();
    }
  }

  /** A blocking wait that can be interrupted. */
  @FunctionalInterface
  interface Wait {
    void run() throws InterruptedException;
  }
}
