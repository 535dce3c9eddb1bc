package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import java.util.List;

/** Application code that takes several messages of one session at once. */
@FunctionalInterface
public interface BatchHandler {

  /**
   * Handles messages of one session, in order. No other message of the session is handled
   * meanwhile, in this or any other process.
   *
   * <p>When the handler throws, no message of the batch is completed and the first one has failed.
   * The processor then hands out the messages of that batch one at a time, so that the failure
   * policy decides about the message that really fails.
   *
   * @param deliveries at least one, at most as many as the processor was built with
   */
  BatchSettlement handle(List<Delivery> deliveries, SessionContext session) throws Exception;
}
