package dev.sessionkeeper.benchmarks.postgres;

/** One way to move messages, on a database or an engine of its own. */
public interface Arm extends AutoCloseable {

  /** What one thread sends with. */
  Producer producer() throws Exception;

  /** Begins to hand messages to the load's check, until closed. */
  void consume(Load load) throws Exception;

  /** Stops consuming; what was sent stays. */
  void stopConsuming();

  @Override
  void close() throws Exception;

  /** Sends for one thread. */
  interface Producer extends AutoCloseable {
    /** Stores these and returns when they are durable. */
    void send(int[] sessions, byte[][] bodies) throws Exception;

    @Override
    void close() throws Exception;
  }
}
