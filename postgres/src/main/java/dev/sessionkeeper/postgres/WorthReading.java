package dev.sessionkeeper.postgres;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Whether a process should read a queue alone: it takes many sessions, nothing was against it
 * lately, and most of those that it carries do without a lane.
 */
final class WorthReading {
  private static final long WINDOW_NANOS = Duration.ofMillis(250).toNanos();
  private static final Duration NOT_WORTH_IT = Duration.ofSeconds(10);

  /** Sessions that were carried, before it is judged. */
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
   * Judges.
   *
   * @param from sessions that are taken in a quarter of a second; zero: always, at once
   */
  WorthReading(TimeSource time, int from) {
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

  /** Not before this time has passed. */
  void notWithin(Duration duration) {
    notBefore = time.nanoTime() + duration.toNanos();
  }

  /** Something was against it; another try comes soon. */
  void failed() {
    notBefore = time.nanoTime() + WINDOW_NANOS;
  }

  /** Whether nothing is against it now. */
  boolean isAllowed() {
    return !isNever() && time.nanoTime() - notBefore >= 0;
  }

  /** Sessions were taken as lanes; whether it is worth reading alone now. */
  boolean tookLanes(int count) {
    long now = time.nanoTime();
    if (now - windowBegan > WINDOW_NANOS) {
      windowBegan = now;
      inWindow = 0;
    }
    inWindow += count;
    return inWindow >= from && isAllowed();
  }

  /** Reading begins; so many sessions were carried before. */
  void begins(long taken) {
    judgedAt = taken;
    unusual.set(0);
  }

  /** A session that was carried needed its lane. */
  void neededLane() {
    unusual.incrementAndGet();
  }

  /** Whether carrying costs more than it saves, because most sessions need a lane anyway. */
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
