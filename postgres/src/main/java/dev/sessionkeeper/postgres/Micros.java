package dev.sessionkeeper.postgres;

import java.time.Duration;

/** Durations as the tables store them: in microseconds. */
final class Micros {
  private Micros() {}

  /** Returns the whole microseconds of a duration. */
  static long of(Duration duration) {
    return Math.addExact(
        Math.multiplyExact(duration.toSeconds(), 1_000_000L), duration.toNanosPart() / 1000);
  }
}
