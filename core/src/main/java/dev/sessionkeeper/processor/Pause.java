package dev.sessionkeeper.processor;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Waits by the clock that came in, so that a test which moves it moves the waiting, too. */
final class Pause {
  private Pause() {}

  static void sleep(TimeSource time, Duration duration) throws InterruptedException {
    time.sleep(duration);
  }

  /** Waits until the signal is complete, or the time is over; returns whether it is complete. */
  static boolean await(TimeSource time, CompletableFuture<Void> done, Duration atMost)
      throws InterruptedException {
    return time.await(done, atMost);
  }

  static long nanos(Duration duration) {
    return TimeUnit.NANOSECONDS.convert(duration);
  }
}
