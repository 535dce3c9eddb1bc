package dev.sessionkeeper.postgres.row;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * What a poll saw and left.
 *
 * @param moment the database's time
 * @param left what another poll has to look at
 * @param nextDue when the first of the new messages is due that wait for their time
 * @param reader a process that reads the queue
 * @param readyFrom where the order of ready sessions begins
 */
public record PollSummary(
    Instant moment, Left left, Optional<Instant> nextDue, Optional<String> reader, long readyFrom) {
  public static final PollSummary NONE =
      new PollSummary(
          Instant.EPOCH, new Left(false, false, false), Optional.empty(), Optional.empty(), 0);

  /**
   * What another poll has to look at.
   *
   * @param areReady whether ready sessions are left
   * @param areBatches whether batches are left that the poll did not look through
   * @param areLocked whether a transaction had locked something
   */
  public record Left(boolean areReady, boolean areBatches, boolean areLocked) {}

  public static PollSummary of(ResultSet row) throws SQLException {
    return new PollSummary(
        HandedRow.until(row),
        new Left(HandedRow.flag(row), row.getInt(7) > 0, row.getInt(8) > 0),
        HandedRow.dueAt(row),
        Optional.ofNullable(row.getString(5)),
        HandedRow.sequence(row));
  }
}
