package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.MessageHandler;

/** Runs listeners in Spring transactions that commit together with their settlements. */
@FunctionalInterface
public interface ListenerTransactions {

  /** The same handler in transactions. */
  MessageHandler transactional(QueueName queue, MessageHandler handler);
}
