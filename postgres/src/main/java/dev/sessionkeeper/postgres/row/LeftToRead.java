package dev.sessionkeeper.postgres.row;

import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * Messages that a statement with locks found but did not return: a second one reads them without
 * locks.
 */
public final class LeftToRead {
  private final @Nullable Array batches;
  private final @Nullable Array withRows;
  private final @Nullable Array relieved;
  private final @Nullable Long upTo;
  private final boolean areRows;
  private final boolean isByTransaction;
  private final OffsetDateTime moment;

  public LeftToRead(ResultSet row) throws SQLException {
    batches = row.getArray("ttls");
    withRows = row.getArray("sessions");
    relieved = row.getArray("ids");
    upTo = row.getObject("seq", Long.class);
    areRows = row.getBoolean("is_expired");
    isByTransaction = row.getInt("attempts") == 1;
    moment = row.getObject("until", OffsetDateTime.class);
  }

  /** Sets the parameters of the second statement from the given one on. */
  public void bind(PreparedStatement statement, int first) throws SQLException {
    statement.setObject(first, upTo, Types.BIGINT);
    statement.setArray(first + 1, batches);
    statement.setBoolean(first + 2, areRows);
    statement.setBoolean(first + 3, isByTransaction);
    statement.setArray(first + 4, withRows);
    statement.setArray(first + 5, relieved);
    statement.setObject(first + 6, moment);
  }
}
