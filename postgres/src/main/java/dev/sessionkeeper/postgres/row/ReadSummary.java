package dev.sessionkeeper.postgres.row;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/**
 * The result of a read by a reader.
 *
 * @param moment the database's time
 * @param epochs the first of the epochs that the reader may assign
 * @param lastSequence the last sequence number that was assigned
 * @param isLate whether a locked row was skipped, so that a later read has to look again
 * @param firstReady the position of the first ready session that has a row; the largest number if
 *     there is none
 */
public record ReadSummary(
    Instant moment, long epochs, long lastSequence, boolean isLate, long firstReady) {
  public static final ReadSummary NONE =
      new ReadSummary(Instant.EPOCH, 0, 0, false, Long.MAX_VALUE);

  public static ReadSummary of(ResultSet row) throws SQLException {
    return new ReadSummary(
        HandedRow.until(row),
        HandedRow.epoch(row),
        row.getLong(13),
        row.getInt(8) > 0,
        HandedRow.hasMessage(row) ? HandedRow.sequence(row) : Long.MAX_VALUE);
  }
}
