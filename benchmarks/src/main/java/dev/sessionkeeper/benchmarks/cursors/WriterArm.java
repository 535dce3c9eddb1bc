package dev.sessionkeeper.benchmarks.cursors;

/** A way to save the last event of many streams. Used by several producers at once. */
interface WriterArm extends AutoCloseable {
  String name();

  /** Submits an event without waiting for it. */
  default void submit(int stream, long event) {
    submit(stream, event, () -> {});
  }

  /** Submits an event; {@code saved} runs when it is durable. */
  void submit(int stream, long event, Runnable saved);

  /** Returns how many rows were written so far. */
  long rows();

  /** Waits until everything is durable. */
  @Override
  void close();
}
