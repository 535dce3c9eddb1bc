package dev.sessionkeeper.postgres.row;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The content of a row of the type {@code keeper.handed}. The order is that of the numbers in SQL.
 */
public enum RowKind {
  /**
   * The last row of an answer, about the answer as a whole: {@link PollSummary}, {@link
   * ReadSummary}.
   */
  SUMMARY,
  /** A claimed session, with at most one message: {@link ClaimedSession}. */
  SESSION,
  /** New messages for a session that a process holds: {@link SessionNews}. */
  NEWS,
  /** The lease has ended. */
  LOST,
  /** A message of a session without a row: {@link FoundMessage}. */
  NEW_MESSAGE,
  /** The snapshot up to which the statement has read: {@link KnownSnapshot}. */
  SNAPSHOT,
  /** A message batch. */
  BATCH,
  /** Messages for a second statement, which locks nothing: {@link LeftToRead}. */
  LEFT_TO_READ;

  private static final RowKind[] ALL = values();

  public static RowKind of(ResultSet row) throws SQLException {
    return ALL[row.getInt(1)];
  }
}
