package dev.sessionkeeper.time;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/**
 * The only source of time: wall clock, monotonic clock and timers.
 *
 * <p>Durations are measured with {@link #nanoTime()}, never with two instants: the wall clock may
 * jump. Timers run on a thread of the source and must be short; with a settable clock they run
 * inside the call that moves it.
 */
public interface TimeSource extends InstantSource {

  /** Returns a monotonic time; its zero has no meaning. */
  long nanoTime();

  /** Runs the task once after the delay, unless it is cancelled before. */
  Timer schedule(Duration delay, Runnable task);

  /** Returns the clock of this machine. */
  static TimeSource system() {
    return SystemTimeSource.INSTANCE;
  }

  /** Returns how long ago a moment of {@link #nanoTime()} was. */
  default Duration since(long startedNanos) {
    return Duration.ofNanos(nanoTime() - startedNanos);
  }

  @Override
  Instant instant();

  /**
   * Waits for so long by this clock, so that a test which moves the clock ends the wait.
   *
   * @throws InterruptedException if the caller is interrupted meanwhile
   */
  default void sleep(Duration duration) throws InterruptedException {
    if (duration.isZero() || duration.isNegative()) {
      return;
    }
    var over = new CountDownLatch(1);
    var timer = schedule(duration, over::countDown);
    try {
      over.await();
    } finally {
      timer.cancel();
    }
  }

  /**
   * Waits until the signal is complete, or the time is over by this clock.
   *
   * @param signal completes normally, or never
   * @return whether the signal is complete
   * @throws InterruptedException if the caller is interrupted meanwhile
   */
  default boolean await(CompletableFuture<Void> signal, Duration atMost)
      throws InterruptedException {
    var over = new CompletableFuture<Void>();
    var timer = schedule(atMost, () -> over.complete(null));
    try {
      CompletableFuture.anyOf(signal, over).get();
      return signal.isDone();
    } catch (ExecutionException e) {
      throw new IllegalStateException("A signal never fails", e);
    } finally {
      timer.cancel();
    }
  }

  /** A task that is scheduled for later. */
  @FunctionalInterface
  interface Timer {
    /** Cancels the task. A task that has begun runs to its end. */
    void cancel();
  }
}
