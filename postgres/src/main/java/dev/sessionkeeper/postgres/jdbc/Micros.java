package dev.sessionkeeper.postgres.jdbc;

import java.time.Duration;

/** Durations as the tables store them: in microseconds. */
public final class Micros {
  private Micros() {}

  /** Returns the whole microseconds of a duration. */
  public static long of(Duration duration) {
    return Math.addExact(
        Math.multiplyExact(duration.toSeconds(), 1_000_000L), duration.toNanosPart() / 1000);
  }
}
