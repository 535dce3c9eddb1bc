package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;

/** A clock that a test moves, with the machine's timers: sockets do not wait for moved clocks. */
record RealTimersAnd(SettableClock clock) implements TimeSource {
  @Override
  public long nanoTime() {
    return clock.nanoTime();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return TimeSource.system().schedule(delay, task);
  }

  @Override
  public Instant instant() {
    return clock.instant();
  }
}
