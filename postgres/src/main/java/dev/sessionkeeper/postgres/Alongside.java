package dev.sessionkeeper.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** What is written in the transaction of an operator's act: both are there or neither is. */
@FunctionalInterface
public interface Alongside {
  /**
   * Writes. May be called again after a rollback.
   *
   * @param affected what the act did, as it tells its caller
   */
  void write(Connection connection, int affected) throws SQLException;
}
