package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.SessionProcessor;

/** A bean that changes the processors of listeners before they are built. */
@FunctionalInterface
public interface SessionProcessorCustomizer {

  /**
   * Changes one processor.
   *
   * @param listener the listener's id
   */
  void customize(String listener, QueueName queue, SessionProcessor.Builder processor);
}
