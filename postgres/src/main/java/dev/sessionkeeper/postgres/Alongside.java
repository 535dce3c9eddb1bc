package dev.sessionkeeper.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** Writes more rows in the transaction of an operator's act: both take effect, or neither does. */
@FunctionalInterface
public interface Alongside {
  /**
   * Writes the rows. May be called again after a rollback.
   *
   * @param affected the result of the act, as its caller gets it
   */
  void write(Connection connection, int affected) throws SQLException;
}
