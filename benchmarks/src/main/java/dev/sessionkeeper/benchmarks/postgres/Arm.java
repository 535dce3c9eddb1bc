package dev.sessionkeeper.benchmarks.postgres;

/** One way to move messages, on a database or an engine of its own. */
public interface Arm extends AutoCloseable {

  /** Returns the sender of one thread. */
  Producer producer() throws Exception;

  /** Begins to hand messages to the load's check, until closed. */
  void consume(Load load) throws Exception;

  /** Stops consuming; sent messages stay. */
  void stopConsuming();

  @Override
  void close() throws Exception;

  /** Sends for one thread. */
  interface Producer extends AutoCloseable {
    /** Stores these messages and returns when they are durable. */
    void send(int[] sessions, byte[][] bodies) throws Exception;

    @Override
    void close() throws Exception;
  }
}
