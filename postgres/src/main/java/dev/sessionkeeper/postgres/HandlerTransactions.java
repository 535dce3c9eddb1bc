package dev.sessionkeeper.postgres;

import java.sql.Connection;

/**
 * Opens the transactions of handlers in place of the provider, so that a framework such as Spring
 * manages them.
 *
 * <p>The connection must belong to the database of the provider. Safe for use by many threads.
 */
@FunctionalInterface
public interface HandlerTransactions {

  /**
   * Runs the work in a transaction: commits when the work returns, and rolls back when it throws.
   *
   * @return what the work returned, after the commit
   * @throws Exception what the work threw, or why the commit failed; then the transaction must not
   *     have been committed, or its outcome must be unknown
   */
  <T> T call(Work<T> work) throws Exception;

  /** A handler with the settlement of its message, as one piece of work. */
  @FunctionalInterface
  interface Work<T> {
    T run(Connection connection) throws Exception;
  }
}
