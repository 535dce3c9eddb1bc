package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.ErrorContext;

/** Decides what follows when a handler throws. */
@FunctionalInterface
public interface FailurePolicy {

  /** Returns how the message ends whose handler threw this exception. */
  Settlement onFailure(Delivery delivery, Exception failure);

  /** As {@link #onFailure(Delivery, Exception)}, with the queue and the lease of the message. */
  default Settlement onFailure(Delivery delivery, Exception failure, ErrorContext context) {
    return onFailure(delivery, failure);
  }
}
