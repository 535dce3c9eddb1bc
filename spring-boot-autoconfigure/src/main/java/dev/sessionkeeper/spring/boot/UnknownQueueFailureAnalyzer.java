package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.KeeperException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Tells what to do when a listener's queue does not exist. */
final class UnknownQueueFailureAnalyzer
    extends AbstractFailureAnalyzer<KeeperException.UnknownQueue> {

  @Override
  protected FailureAnalysis analyze(Throwable root, KeeperException.UnknownQueue cause) {
    return new FailureAnalysis(
        String.valueOf(cause.getMessage()),
        "Declare the queue under sessionkeeper.queues, for example"
            + " sessionkeeper.queues.orders.mode=ordered",
        cause);
  }
}
