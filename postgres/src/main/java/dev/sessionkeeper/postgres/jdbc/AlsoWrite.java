package dev.sessionkeeper.postgres.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** A write of the caller that joins the transaction of a change. */
@FunctionalInterface
public interface AlsoWrite {
  /**
   * Writes the rows. A repetition after a rollback calls it again.
   *
   * @param affected the number of rows or sessions that the change affected
   */
  void write(Connection connection, int affected) throws SQLException;
}
