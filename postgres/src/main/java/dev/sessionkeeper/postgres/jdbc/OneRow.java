package dev.sessionkeeper.postgres.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Runs statements that return one row. */
public final class OneRow {
  private OneRow() {}

  /** Reads the row, on which the result set stands. */
  @FunctionalInterface
  public interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Runs a statement with these parameters, in their order. */
  public static <T> T of(Connection connection, String sql, Reader<T> reader, Object... parameters)
      throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      try (var rows = statement.executeQuery()) {
        rows.next();
        return reader.read(rows);
      }
    }
  }
}
