package dev.sessionkeeper.postgres.row;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * The result of a poll.
 *
 * @param moment the database's time
 * @param left the work for another poll
 * @param nextDue when the first of the new messages with a delay becomes due
 * @param reader a process that reads the queue
 * @param readyFrom where the order of ready sessions begins
 */
public record PollSummary(
    Instant moment, Left left, Optional<Instant> nextDue, Optional<String> reader, long readyFrom) {
  public static final PollSummary NONE =
      new PollSummary(
          Instant.EPOCH, new Left(false, false, false), Optional.empty(), Optional.empty(), 0);

  /**
   * The work for another poll.
   *
   * @param areReady whether ready sessions are left
   * @param areBatches whether batches are left that the poll did not search
   * @param areLocked whether a transaction had locked a row that the poll needed
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
