package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;

/**
 * Application code. It may throw: the {@link FailurePolicy} turns the exception into a settlement.
 */
@FunctionalInterface
public interface MessageHandler {

  /**
   * Handles one message. No other message of its session is handled meanwhile, in this or any other
   * process.
   *
   * <p>The thread is interrupted when the lease is lost; the settlement that the handler then
   * returns is not applied.
   */
  Settlement handle(Delivery delivery, SessionContext session) throws Exception;
}
