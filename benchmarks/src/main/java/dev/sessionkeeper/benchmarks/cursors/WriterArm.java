package dev.sessionkeeper.benchmarks.cursors;

/** A way to save the last event of many streams. Used by several producers at once. */
interface WriterArm extends AutoCloseable {
  String name();

  /** Hands over an event that nobody waits for. */
  default void submit(int stream, long event) {
    submit(stream, event, () -> {});
  }

  /**
   * Hands over an event, waiting as long as the arm wants; {@code saved} runs when it is durable.
   */
  void submit(int stream, long event, Runnable saved);

  /** Rows written so far. */
  long rows();

  /** Waits until everything is durable. */
  @Override
  void close();
}
