package dev.sessionkeeper.processor;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Waits by the clock of the processor, so that a test that moves this clock also ends the wait. */
final class Pause {
  private Pause() {}

  static void sleep(TimeSource time, Duration duration) throws InterruptedException {
    time.sleep(duration);
  }

  /**
   * Waits until the signal is complete or the time is over. Returns whether the signal is complete.
   */
  static boolean await(TimeSource time, CompletableFuture<Void> done, Duration atMost)
      throws InterruptedException {
    return time.await(done, atMost);
  }

  static long nanos(Duration duration) {
    return TimeUnit.NANOSECONDS.convert(duration);
  }
}
