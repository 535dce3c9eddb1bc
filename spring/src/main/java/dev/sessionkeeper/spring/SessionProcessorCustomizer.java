package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.SessionProcessor;

/** A bean that changes the processor of each listener before it is built. */
@FunctionalInterface
public interface SessionProcessorCustomizer {

  /**
   * Changes one processor.
   *
   * @param listener the listener's id
   */
  void customize(String listener, QueueName queue, SessionProcessor.Builder processor);
}
