package dev.sessionkeeper.jobs;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;

/** The clocks of a machine whose wall clock is wrong. */
record ShiftedTime(Duration offset) implements TimeSource {
  @Override
  public long nanoTime() {
    return TimeSource.system().nanoTime();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return TimeSource.system().schedule(delay, task);
  }

  @Override
  public Instant instant() {
    return TimeSource.system().instant().plus(offset);
  }
}
