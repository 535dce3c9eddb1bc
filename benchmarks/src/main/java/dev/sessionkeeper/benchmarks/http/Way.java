package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** A way to consume a queue. All ways use the same provider, each on a database of its own. */
interface Way {
  String name();

  /** Creates the queue. */
  void declare(QueueName queue);

  /** Sends messages in one call. */
  void send(QueueName queue, Iterable<Outgoing> messages);

  /** Returns how many threads consume at once. */
  int consumers();

  /**
   * Begins to consume with one thread. The caller calls {@link Consuming#step} until all is done.
   */
  Consuming consume(QueueName queue);

  /**
   * A message to send.
   *
   * @param json its body
   */
  record Outgoing(String session, String json) {}

  /** One consumer. */
  interface Consuming {
    /**
     * Accepts ready sessions, waits a moment if there are none, and completes their messages.
     *
     * @param handler gets the body of each message
     * @param completed gets the number of messages whose completion was confirmed
     */
    void step(Consumer<Supplier<String>> handler, IntConsumer completed) throws Exception;

    /** Completes the messages that are still open. */
    default void end(IntConsumer completed) throws Exception {}
  }
}
