package dev.sessionkeeper.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** Writes more in the transaction of an operator's act: both take effect, or neither does. */
@FunctionalInterface
public interface Alongside {
  /**
   * Writes. May be called again after a rollback.
   *
   * @param affected what the act did, as it tells its caller
   */
  void write(Connection connection, int affected) throws SQLException;
}
