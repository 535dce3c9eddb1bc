package dev.sessionkeeper.postgres;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The snapshot up to which was read.
 *
 * @param moreAfter where there is more to read, the number after which it is
 */
record KnownSnapshot(String snapshot, Optional<Long> moreAfter) {
  static KnownSnapshot of(ResultSet row) throws SQLException {
    return new KnownSnapshot(
        row.getString(5),
        HandedRow.hasMessage(row) ? Optional.of(HandedRow.sequence(row)) : Optional.empty());
  }
}
