package dev.sessionkeeper.postgres;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** The clock of this machine, set forward by a test. Timers that run already do not change. */
final class ShiftedTime implements TimeSource {
  private final TimeSource system = TimeSource.system();
  private final AtomicLong ahead = new AtomicLong();

  void forward(Duration by) {
    ahead.addAndGet(by.toNanos());
  }

  @Override
  public Instant instant() {
    return system.instant().plusNanos(ahead.get());
  }

  @Override
  public long nanoTime() {
    return system.nanoTime() + ahead.get();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return system.schedule(delay, task);
  }
}
