package dev.sessionkeeper.jobs;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A lease with its local deadline.
 *
 * <p>The deadline counts by the monotonic clock from the moment the last successful call was sent.
 * No other machine's clock is used, and a process that was frozen finds the deadline passed when it
 * continues.
 *
 * <p>Threads: any. I1: the callback for a lost lease runs once, on the first thread that notices.
 */
final class HeldLease {
  private final Lease lease;
  private final TimeSource time;
  private final Duration trusted;
  private final List<Runnable> whenLost = new ArrayList<>();
  private volatile long deadline;
  private volatile @Nullable String lost;

  HeldLease(Claim claim, TimeSource time, Duration trusted) {
    this.lease = claim.lease();
    this.time = time;
    this.trusted = trusted;
    this.deadline = claim.sentNanos() + trusted.toNanos();
  }

  Lease lease() {
    return lease;
  }

  boolean isHeld() {
    return lost == null && time.nanoTime() - deadline < 0;
  }

  /** Returns the time that remains until the local deadline. */
  Duration remaining() {
    return Duration.ofNanos(deadline - time.nanoTime());
  }

  void renewed(long sentNanos) {
    deadline = sentNanos + trusted.toNanos();
  }

  /** Returns why the lease is lost; null while it is held. */
  @Nullable String lost() {
    return lost;
  }

  /** Marks the lease as lost; only the first call counts. */
  void lose(String why) {
    List<Runnable> tasks;
    synchronized (whenLost) {
      if (lost != null) {
        return;
      }
      lost = why;
      tasks = List.copyOf(whenLost);
    }
    tasks.forEach(Runnable::run);
  }

  /** Runs the task when the lease is lost; at once if it is lost already. */
  Registration whenLost(Runnable task) {
    synchronized (whenLost) {
      if (lost == null) {
        whenLost.add(task);
        return () -> forget(task);
      }
    }
    task.run();
    return () -> {};
  }

  private void forget(Runnable task) {
    synchronized (whenLost) {
      whenLost.remove(task);
    }
  }

  /** Removes a task that was registered for the loss of a lease. */
  @FunctionalInterface
  interface Registration {
    void cancel();
  }
}
