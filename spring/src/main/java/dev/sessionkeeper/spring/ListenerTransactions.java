package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.MessageHandler;

/** Runs listeners in Spring transactions that commit together with their settlements. */
public interface ListenerTransactions {

  /**
   * The same handler in transactions.
   *
   * @throws dev.sessionkeeper.KeeperException.Misconfigured if the transactions are those of
   *     another database than the queue's
   */
  MessageHandler transactional(QueueName queue, MessageHandler handler);

  /** As {@link #transactional}, for a handler of batches. */
  BatchHandler transactionalBatches(QueueName queue, BatchHandler handler);
}
