package dev.sessionkeeper.processor;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Waits by the clock of the processor, so that a test that moves this clock also ends the wait. */
final class Pause {
  private Pause() {}

  static void sleep(TimeSource time, Duration duration) throws InterruptedException {
    if (duration.isZero() || duration.isNegative()) {
      return;
    }
    var over = new CountDownLatch(1);
    var timer = time.schedule(duration, over::countDown);
    try {
      over.await();
    } finally {
      timer.cancel();
    }
  }

  /** Waits until it is done, or the time is over; tells whether it is done. */
  static boolean await(TimeSource time, CompletableFuture<Void> done, Duration atMost)
      throws InterruptedException {
    var over = new CompletableFuture<Void>();
    var timer = time.schedule(atMost, () -> over.complete(null));
    try {
      CompletableFuture.anyOf(done, over).get();
      return done.isDone();
    } catch (ExecutionException e) {
      throw new IllegalStateException("A signal never fails", e);
    } finally {
      timer.cancel();
    }
  }

  static long nanos(Duration duration) {
    return TimeUnit.NANOSECONDS.convert(duration);
  }
}
