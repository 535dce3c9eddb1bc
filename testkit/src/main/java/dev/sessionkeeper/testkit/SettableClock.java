package dev.sessionkeeper.testkit;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * A clock that only a test moves. Timers run inside the call that moves the clock, in the order of
 * their times, and see the time for which they were set.
 */
public final class SettableClock implements TimeSource {
  private final PriorityQueue<Pending> timers =
      new PriorityQueue<>(
          Comparator.comparingLong(Pending::nanos).thenComparingLong(Pending::number));
  private Instant wall;
  private long nanos;
  private long lastNumber;

  private SettableClock(Instant start) {
    wall = start;
  }

  /** Creates a clock that shows midnight of the first of January 2030. */
  public static SettableClock create() {
    return startingAt(Instant.parse("2030-01-01T00:00:00Z"));
  }

  public static SettableClock startingAt(Instant start) {
    return new SettableClock(start);
  }

  @Override
  public synchronized Instant instant() {
    return wall;
  }

  @Override
  public synchronized long nanoTime() {
    return nanos;
  }

  @Override
  public synchronized Timer schedule(Duration delay, Runnable task) {
    var pending = new Pending(nanos + Math.max(0, delay.toNanos()), ++lastNumber, task);
    timers.add(pending);
    return () -> cancel(pending);
  }

  private synchronized void cancel(Pending pending) {
    timers.remove(pending);
  }

  /** Returns how many timers are scheduled. */
  public synchronized int pendingTimers() {
    return timers.size();
  }

  /**
   * Moves the clock forward, and runs every timer that becomes due, including those set by other
   * timers.
   */
  public void advance(Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException("duration must not be negative, was " + duration);
    }
    long end = nanoTime() + duration.toNanos();
    for (var due = next(end); due != null; due = next(end)) {
      due.task.run();
    }
    moveTo(end);
  }

  /** Moves the wall clock only; no timer becomes due. */
  public synchronized void jumpWallClock(Duration by) {
    wall = wall.plus(by);
  }

  private synchronized @Nullable Pending next(long end) {
    var first = timers.peek();
    if (first == null || first.nanos > end) {
      return null;
    }
    moveTo(first.nanos);
    return timers.poll();
  }

  private synchronized void moveTo(long moment) {
    if (moment > nanos) {
      wall = wall.plusNanos(moment - nanos);
      nanos = moment;
    }
  }

  private record Pending(long nanos, long number, Runnable task) {}
}
