package dev.sessionkeeper.processor;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import org.jspecify.annotations.Nullable;

/** A place for one session: a thread that takes and serves sessions one after the other. */
final class Slot {
  private static final RetryPolicy BACK_OFF = RetryPolicy.forStore(Integer.MAX_VALUE);

  /** Open while the slot waits for work and may be called away. */
  final InterruptGate waiting;

  private final Slots slots;
  private final Thread thread;
  private volatile @Nullable Hold hold;
  private volatile boolean retiring;
  private int failures;

  Slot(Slots slots, Thread thread) {
    this.slots = slots;
    this.thread = thread;
    this.waiting = new InterruptGate(thread);
  }

  @Nullable Hold hold() {
    return hold;
  }

  void holds(Hold taken) {
    hold = taken;
  }

  void holdsNothing() {
    hold = null;
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

  /** Whether to take no new message: the processor stops or this slot is one too many. */
  boolean isCalledAway() {
    return retiring || slots.isStopping();
  }

  void worked() {
    failures = 0;
  }

  /** Waits longer after every failure in a row, on its own: other slots do not notice. */
  void backOff(TimeSource time, Jitter jitter) {
    failures++;
    waitUnlessCalledAway(() -> Pause.sleep(time, jitter.delayAfter(BACK_OFF, failures)));
  }

  /** Runs a wait that ends early when the slot is called away. */
  void waitUnlessCalledAway(Wait wait) {
    waiting.enter();
    try {
      // Looked at after the gate is open: whoever calls away first marks, then interrupts.
      if (!isCalledAway()) {
        wait.run();
      }
    } catch (InterruptedException e) {
      // Called away; what the worker does next is asked of the slot.
    } finally {
      waiting.leave();
    }
  }

  /** Something that takes time. */
  @FunctionalInterface
  interface Wait {
    void run() throws InterruptedException;
  }
}
