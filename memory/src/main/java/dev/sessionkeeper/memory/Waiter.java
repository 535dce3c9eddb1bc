package dev.sessionkeeper.memory;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread that waits for an event or the end of its time. */
final class Waiter implements AutoCloseable {
  private final Thread thread = Thread.currentThread();
  private final TimeSource.Timer timer;
  private volatile boolean awake;
  private volatile boolean timedOut;

  // The place in a WaitList, guarded by the list's lock.
  @Nullable WaitList list;
  @Nullable Waiter before;
  @Nullable Waiter after;

  Waiter(Ticks ticks, Duration wait) {
    timer = ticks.runAfter(wait, this::timeOut);
  }

  boolean isTimedOut() {
    return timedOut;
  }

  /** Waits until the thread is woken or its time is over. An earlier wake-up counts. */
  void await() throws InterruptedException {
    while (!awake && !timedOut) {
      LockSupport.park(this);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    awake = false;
  }

  void wake() {
    awake = true;
    LockSupport.unpark(thread);
  }

  private void timeOut() {
    timedOut = true;
    LockSupport.unpark(thread);
  }

  @Override
  public void close() {
    timer.cancel();
  }
}
