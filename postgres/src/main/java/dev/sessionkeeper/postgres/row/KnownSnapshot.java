package dev.sessionkeeper.postgres.row;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The snapshot up to which the statement has read.
 *
 * @param moreAfter if there is more to read, the sequence number after which it begins
 */
public record KnownSnapshot(String snapshot, Optional<Long> moreAfter) {
  public static KnownSnapshot of(ResultSet row) throws SQLException {
    return new KnownSnapshot(
        row.getString(5),
        HandedRow.hasMessage(row) ? Optional.of(HandedRow.sequence(row)) : Optional.empty());
  }
}
