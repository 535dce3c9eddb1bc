package dev.sessionkeeper.spring.boot.test;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.spring.ListenerTransactions;

/** Calls transactional listeners without a transaction: queues in memory have none to join. */
final class NoTransactions implements ListenerTransactions {

  @Override
  public MessageHandler transactional(QueueName queue, MessageHandler handler) {
    return handler;
  }

  @Override
  public BatchHandler transactionalBatches(QueueName queue, BatchHandler handler) {
    return handler;
  }
}
