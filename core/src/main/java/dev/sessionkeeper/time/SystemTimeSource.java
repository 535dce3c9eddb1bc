package dev.sessionkeeper.time;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The machine's clocks, with one daemon thread for timers. */
final class SystemTimeSource implements TimeSource {
  static final SystemTimeSource INSTANCE = new SystemTimeSource();

  private static final Logger log = LoggerFactory.getLogger(SystemTimeSource.class);
  private final ScheduledThreadPoolExecutor timers;

  private SystemTimeSource() {
    timers =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("keeper-timer").factory());
    timers.setRemoveOnCancelPolicy(true);
  }

  @Override
  public Instant instant() {
    // Stores keep microseconds; an instant that is written and read back must equal the original.
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var future = timers.schedule(() -> runSafely(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  /** Real time needs no timer here: the future's own timed wait is enough. */
  @Override
  public boolean await(CompletableFuture<Void> signal, Duration atMost)
      throws InterruptedException {
    try {
      signal.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return signal.isDone();
    } catch (ExecutionException e) {
      throw new IllegalStateException("A signal never fails", e);
    }
  }

  private static void runSafely(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      log.error("A timer failed; other timers continue", e);
    }
  }
}
