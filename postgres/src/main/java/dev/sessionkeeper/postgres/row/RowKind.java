package dev.sessionkeeper.postgres.row;

import java.sql.ResultSet;
import java.sql.SQLException;

/** What a row of the type {@code keeper.handed} tells. The order is that of its numbers in SQL. */
public enum RowKind {
  /**
   * The end of an answer, and what holds for all of it: {@link PollSummary}, {@link ReadSummary}.
   */
  SUMMARY,
  /** A claimed session, with a message or none: {@link ClaimedSession}. */
  SESSION,
  /** New messages for a session that a process holds: {@link SessionNews}. */
  NEWS,
  /** The lease has ended. */
  LOST,
  /** A message of a session without a row: {@link FoundMessage}. */
  NEW_MESSAGE,
  /** The snapshot up to which was read: {@link KnownSnapshot}. */
  SNAPSHOT,
  /** Messages that were stored together. */
  BATCH,
  /** Messages for a second statement, which locks nothing: {@link LeftToRead}. */
  LEFT_TO_READ;

  private static final RowKind[] ALL = values();

  public static RowKind of(ResultSet row) throws SQLException {
    return ALL[row.getInt(1)];
  }
}
