package dev.sessionkeeper.testkit;

import java.time.Duration;

/** Detects that this process did not run for a while, by short sleeps that end late. */
final class WatchForStalls {
  private static final Duration BEAT = Duration.ofMillis(20);
  private static final long STALL = Duration.ofMillis(150).toNanos();
  private static final WatchForStalls WATCH = new WatchForStalls();

  private volatile long lastBeat = System.nanoTime();
  private volatile long lastStall = lastBeat;

  private WatchForStalls() {
    Thread.ofPlatform().daemon().name("watch-for-stalls").start(this::watch);
  }

  /** Returns the moment from which stalls count. */
  static long begin() {
    return System.nanoTime();
  }

  /** Returns whether there was a stall since then, including one that is only noticed now. */
  static boolean anySince(long begin) {
    return WATCH.lastStall - begin > 0 || System.nanoTime() - WATCH.lastBeat > STALL;
  }

  /** Pretends that the machine stalled, for tests of this class. */
  static void pretendOne() {
    WATCH.lastStall = System.nanoTime();
  }

  private void watch() {
    while (true) {
      Eventually.sleep(BEAT);
      long now = System.nanoTime();
      if (now - lastBeat > STALL) {
        lastStall = now;
      }
      lastBeat = now;
    }
  }
}
