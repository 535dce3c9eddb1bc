package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;

/** Decides what follows when a handler throws. */
@FunctionalInterface
public interface FailurePolicy {
  Settlement onFailure(Delivery delivery, Exception failure);
}
