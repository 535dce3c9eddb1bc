package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionContext;
import java.sql.Connection;

/**
 * Application code whose effects are in the database of its queue. The effects and the settlement
 * of the message are one transaction: the effects happen once, whatever crashes.
 */
@FunctionalInterface
public interface TransactionalHandler {

  /**
   * Handles one message. The transaction is open. It commits together with the returned settlement,
   * and is rolled back if the handler throws. The handler must not commit, roll back or close. The
   * transaction uses {@code READ COMMITTED}; at another level its message cannot be settled.
   */
  Settlement handle(Delivery delivery, SessionContext session, Connection connection)
      throws Exception;
}
