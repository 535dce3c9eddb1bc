package dev.sessionkeeper.postgres.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.postgresql.PGStatement;

/**
 * Prepares statements that return payloads, so that PostgreSQL sends them in binary form. By
 * default, the driver asks for text the first five times on each connection; text is twice as long
 * and costs both sides more than everything else.
 *
 * <p>A connection whose URL says {@code prepareThreshold=0} stays with text: behind a pooler in
 * transaction mode the next statement may meet a server connection that does not know this one.
 */
public final class BinaryResults {
  /** The driver's threshold for preparing at the first execution. */
  private static final int AT_ONCE = -1;

  /** The driver's threshold for connections that must not prepare statements on the server. */
  private static final int NEVER = 0;

  private BinaryResults() {}

  public static PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    var statement = connection.prepareStatement(sql);
    var driver = statement.unwrap(PGStatement.class);
    if (driver.getPrepareThreshold() != NEVER) {
      driver.setPrepareThreshold(AT_ONCE);
    }
    return statement;
  }
}
