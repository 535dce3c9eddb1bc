package dev.sessionkeeper.postgres.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.postgresql.PGStatement;

/**
 * Prepares statements that return payloads, in binary form. The driver's default asks for text the
 * first five times on every connection; text is twice as long and costs both sides more than
 * everything else.
 *
 * <p>A connection whose URL says {@code prepareThreshold=0} keeps to text: behind a pooler in
 * transaction mode the next statement may meet a server connection that does not know this one.
 */
public final class BinaryResults {
  /** Asks what the columns are, once on a connection, and for binary ones from then on. */
  private static final int AT_ONCE = -1;

  /** The driver's word for a connection that must not prepare statements on the server. */
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
