package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import java.util.OptionalLong;

/** For brokers that count messages and cannot show sessions. Their numbers may be estimates. */
public interface CountableQueues {

  /**
   * The numbers of a queue as the broker tells them now.
   *
   * @throws KeeperException.UnknownQueue if there is no such queue
   */
  Counts counts(QueueName queue);

  /**
   * The numbers of a queue.
   *
   * @param depth messages accepted and not yet completed or dead
   * @param inFlight open deliveries; empty when the broker does not tell
   */
  record Counts(long depth, OptionalLong inFlight, long deadLetters) {}
}
