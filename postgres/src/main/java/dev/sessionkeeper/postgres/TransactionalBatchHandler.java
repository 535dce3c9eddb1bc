package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.processor.BatchSettlement;
import dev.sessionkeeper.processor.SessionContext;
import java.sql.Connection;
import java.util.List;

/**
 * Application code that takes several messages of one session, with effects in the database of its
 * queue. The effects and the settlements of the messages are one transaction.
 */
@FunctionalInterface
public interface TransactionalBatchHandler {

  /**
   * Handles messages of one session, in order, under the rules of {@link
   * dev.sessionkeeper.processor.BatchHandler#handle} and {@link TransactionalHandler#handle}.
   */
  BatchSettlement handle(List<Delivery> deliveries, SessionContext session, Connection connection)
      throws Exception;
}
