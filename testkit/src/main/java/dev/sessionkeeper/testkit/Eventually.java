package dev.sessionkeeper.testkit;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits, in real time, for the effects of other threads. */
final class Eventually {
  private static final Duration LONGEST = Duration.ofSeconds(30);
  private static final int GLANCES = 20;

  private Eventually() {}

  static void holds(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + LONGEST.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("Within " + LONGEST + " it did not come about that " + what);
      }
      sleep(Duration.ofMillis(1));
    }
  }

  /**
   * Waits a short time, or until another thread makes the condition true; the caller then checks
   * the condition.
   */
  static void staysFalse(BooleanSupplier condition) {
    for (int i = 0; i < GLANCES && !condition.getAsBoolean(); i++) {
      sleep(Duration.ofMillis(1));
    }
  }

  static void sleep(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("The test was interrupted", e);
    }
  }
}
