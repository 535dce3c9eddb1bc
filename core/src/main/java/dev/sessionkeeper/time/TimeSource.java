package dev.sessionkeeper.time;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * The only source of time: wall clock, monotonic clock and timers.
 *
 * <p>Durations are measured with {@link #nanoTime()}, never with two instants: the wall clock may
 * jump. Timers run on a thread of the source and must be short; with a settable clock they run
 * inside the call that moves it.
 */
public interface TimeSource extends InstantSource {

  /** A clock that only grows; its zero has no meaning. */
  long nanoTime();

  /** Runs the task once after the delay, unless it is cancelled before. */
  Timer schedule(Duration delay, Runnable task);

  /** The clock of this machine. */
  static TimeSource system() {
    return SystemTimeSource.INSTANCE;
  }

  /** How long ago a moment of {@link #nanoTime()} was. */
  default Duration since(long startedNanos) {
    return Duration.ofNanos(nanoTime() - startedNanos);
  }

  @Override
  Instant instant();

  /** A task that waits for its time. */
  @FunctionalInterface
  interface Timer {
    /** Takes the task back. A task that has begun runs to its end. */
    void cancel();
  }
}
