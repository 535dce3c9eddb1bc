package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Decides whether a process should read: it takes many sessions, no attempt failed lately, and most
 * of its sessions need no row.
 */
public final class ReadingPolicy {
  private static final long WINDOW_NANOS = Duration.ofMillis(250).toNanos();
  private static final Duration NOT_WORTH_IT = Duration.ofSeconds(10);

  /** The sessions that are taken from memory before the policy judges. */
  private static final int JUDGE_AFTER = 256;

  private static final int MOST_UNUSUAL_PART = 4;

  private final TimeSource time;
  private final int from;
  private final AtomicLong unusual = new AtomicLong();
  private volatile long notBefore;
  private long judgedAt;
  private long windowBegan;
  private int inWindow;

  /**
   * Creates the policy.
   *
   * @param from sessions that are taken in a quarter of a second; zero to read at once
   */
  ReadingPolicy(TimeSource time, int from) {
    this.time = time;
    this.from = from;
    this.notBefore = time.nanoTime();
    this.windowBegan = notBefore;
  }

  boolean isAlways() {
    return from == 0;
  }

  boolean isNever() {
    return from == ReadingOptions.NEVER;
  }

  /** Prevents reading until this time has passed. */
  void notWithin(Duration duration) {
    notBefore = time.nanoTime() + duration.toNanos();
  }

  /** Records that a beginning failed; another attempt follows soon. */
  void failed() {
    notBefore = time.nanoTime() + WINDOW_NANOS;
  }

  /** Returns whether reading may begin now. */
  boolean isAllowed() {
    return !isNever() && time.nanoTime() - notBefore >= 0;
  }

  /** Records sessions that were claimed as rows. Returns whether reading is worth it now. */
  boolean claimedRows(int count) {
    long now = time.nanoTime();
    if (now - windowBegan > WINDOW_NANOS) {
      windowBegan = now;
      inWindow = 0;
    }
    inWindow += count;
    return inWindow >= from && isAllowed();
  }

  /**
   * Records that reading begins.
   *
   * @param taken the sessions that were taken from memory before
   */
  void begins(long taken) {
    judgedAt = taken;
    unusual.set(0);
  }

  /** Records that a session in memory needed a row. */
  void neededRow() {
    unusual.incrementAndGet();
  }

  /** Returns whether reading costs more than it saves, because too many sessions need a row. */
  boolean isOver(long taken) {
    if (taken - judgedAt < JUDGE_AFTER || isAlways()) {
      return false;
    }
    boolean isTooMuch = unusual.get() * MOST_UNUSUAL_PART > taken - judgedAt;
    begins(taken);
    if (isTooMuch) {
      notWithin(NOT_WORTH_IT);
    }
    return isTooMuch;
  }
}
