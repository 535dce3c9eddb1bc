package dev.sessionkeeper.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.postgresql.PGStatement;

/**
 * Prepares statements that hand out bodies. By itself the driver asks for text the first five times
 * on every connection, which is twice as long and costs both sides more than everything else.
 */
final class BinaryAnswer {
  /** Asks what the columns are, once on a connection, and for binary ones from then on. */
  private static final int AT_ONCE = -1;

  private BinaryAnswer() {}

  static PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    var statement = connection.prepareStatement(sql);
    statement.unwrap(PGStatement.class).setPrepareThreshold(AT_ONCE);
    return statement;
  }
}
