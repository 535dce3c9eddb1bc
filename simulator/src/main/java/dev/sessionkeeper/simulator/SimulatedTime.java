package dev.sessionkeeper.simulator;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/** The clocks of one machine: its wall clock may be wrong, its monotonic clock is right. */
final class SimulatedTime implements TimeSource {
  static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private final World world;
  private final World.Machine machine;
  private Duration offset;

  SimulatedTime(World world, World.Machine machine, Duration offset) {
    this.world = world;
    this.machine = machine;
    this.offset = offset;
  }

  /** Moves the wall clock. */
  void jump(Duration by) {
    offset = offset.plus(by);
  }

  @Override
  public Instant instant() {
    return BEGIN.plusNanos(world.now() / 1000 * 1000).plus(offset);
  }

  @Override
  public long nanoTime() {
    return world.now();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var timer = world.after(delay, machine, task);
    return () -> world.cancel(timer);
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    if (!duration.isZero() && !duration.isNegative()) {
      world.await(() -> false, duration, true);
    }
  }

  @Override
  public boolean await(CompletableFuture<Void> signal, Duration atMost)
      throws InterruptedException {
    if (!signal.isDone()) {
      world.await(signal::isDone, atMost, true);
    }
    return signal.isDone();
  }
}
