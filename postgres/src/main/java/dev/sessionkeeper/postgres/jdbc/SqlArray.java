package dev.sessionkeeper.postgres.jdbc;

import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGConnection;

/** Makes arrays for statements. Primitive elements travel in binary form. */
public final class SqlArray {
  private SqlArray() {}

  public static Array of(Connection connection, String type, Object elements) throws SQLException {
    return connection.unwrap(PGConnection.class).createArrayOf(type, elements);
  }
}
