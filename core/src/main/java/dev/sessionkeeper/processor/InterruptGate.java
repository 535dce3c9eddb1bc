package dev.sessionkeeper.processor;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Lets other threads interrupt a worker inside one section of its code, and nowhere else.
 *
 * <p>One worker enters and leaves; any thread may interrupt. I1: an interrupt is sent only between
 * enter and leave. I2: when leave returns, the interrupt is over and the thread's interrupt flag is
 * cleared, so the interrupt cannot hit later code of the worker.
 */
final class InterruptGate {
  private static final int OUTSIDE = 0;
  private static final int INSIDE = 1;
  private static final int SENDING = 2;
  private static final int SENT = 3;

  // A field updater instead of an atomic object: each hold creates a gate.
  private static final AtomicIntegerFieldUpdater<InterruptGate> STATE =
      AtomicIntegerFieldUpdater.newUpdater(InterruptGate.class, "state");

  private final Thread worker;
  private volatile int state = OUTSIDE;

  InterruptGate(Thread worker) {
    this.worker = worker;
  }

  void enter() {
    state = INSIDE;
  }

  /** Ends the section. Returns whether the worker was interrupted in it. */
  boolean leave() {
    boolean interrupted = !STATE.compareAndSet(this, INSIDE, OUTSIDE);
    if (interrupted) {
      while (state == SENDING) {
        Thread.onSpinWait();
      }
      state = OUTSIDE;
    }
    // Also clears a flag that application code left behind; the next wait must not end at once.
    Thread.interrupted();
    return interrupted;
  }

  /**
   * Interrupts the worker if it runs a handler. Returns whether this or an earlier call interrupted
   * the worker.
   */
  boolean interrupt() {
    if (STATE.compareAndSet(this, INSIDE, SENDING)) {
      worker.interrupt();
      state = SENT;
      return true;
    }
    return isInside();
  }

  boolean isInside() {
    return state != OUTSIDE;
  }
}
