package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.MessageHandler;

/** Runs listeners in Spring transactions that commit together with their settlements. */
public interface ListenerTransactions {

  /**
   * Returns the same handler in transactions.
   *
   * @throws dev.sessionkeeper.KeeperException.Misconfigured if the transactions belong to another
   *     database than the queue
   */
  MessageHandler transactional(QueueName queue, MessageHandler handler);

  /** Returns a handler of batches as {@link #transactional} does. */
  BatchHandler transactionalBatches(QueueName queue, BatchHandler handler);
}
