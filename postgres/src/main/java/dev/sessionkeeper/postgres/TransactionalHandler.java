package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionContext;
import java.sql.Connection;

/**
 * Application code whose effects are in the same database as its queue. What it writes on the
 * connection and the settlement of its message are one transaction: the effect happens once,
 * whatever crashes.
 */
@FunctionalInterface
public interface TransactionalHandler {

  /**
   * Handles one message. The transaction is open; it is committed together with the settlement that
   * is returned, and rolled back when this throws. The handler must not commit, roll back or close.
   * The transaction is in {@code READ COMMITTED}, and in another level it cannot be settled.
   */
  Settlement handle(Delivery delivery, SessionContext session, Connection connection)
      throws Exception;
}
