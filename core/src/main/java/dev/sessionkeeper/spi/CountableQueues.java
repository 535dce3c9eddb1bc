package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import java.util.OptionalLong;

/** For brokers that count messages but cannot list sessions. The counts may be estimates. */
public interface CountableQueues {

  /**
   * Returns the current counts of a queue, as the broker reports them.
   *
   * @throws KeeperException.UnknownQueue if there is no such queue
   */
  Counts counts(QueueName queue);

  /**
   * The counts of a queue.
   *
   * @param depth messages that are neither completed nor dead letters
   * @param inFlight open deliveries; empty if the broker does not report them
   */
  record Counts(long depth, OptionalLong inFlight, long deadLetters) {}
}
