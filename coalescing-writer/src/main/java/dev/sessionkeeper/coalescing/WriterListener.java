package dev.sessionkeeper.coalescing;

import java.time.Duration;

/** Receives events of a writer, for metrics and alerts. Methods must be fast and must not throw. */
public interface WriterListener {

  /** A write was stored. */
  default void flushed(Flush flush) {}

  /** The writer became 80 % full and callers should slow down, or is below that again. */
  default void pressureChanged(boolean high) {}

  /**
   * One successful write.
   *
   * @param rows values written
   * @param submits how many submits they stand for
   * @param oldest the time from the first submit of the oldest value until it was durable
   * @param took the duration of the write itself
   */
  record Flush(int rows, long submits, Duration oldest, Duration took) {}

  /** Returns a listener that does nothing. */
  static WriterListener none() {
    return new WriterListener() {};
  }
}
