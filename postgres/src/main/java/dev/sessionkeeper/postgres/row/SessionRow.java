package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;

/** A session for operators, as every list of sessions reads it. */
public final class SessionRow {
  /** The order in which the database sorts names. */
  public static final Comparator<String> BY_BYTES =
      (one, other) ->
          Arrays.compareUnsigned(
              one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

  private SessionRow() {}

  /**
   * Reads fourteen columns: session, status, backlog, age of its first message in microseconds,
   * owner, epoch, end of its lease, attempts of its first message, why and since when it is set
   * aside, and of its first message the last error, when it failed and when it was sent; then since
   * when it is held.
   */
  public static SessionView of(ResultSet row) throws SQLException {
    var status = StoredCodes.status(row.getInt(2));
    boolean waits = status == SessionStatus.WAITING;
    var failedAt = Instants.optional(row, 12);
    var waitsSince = failedAt.isPresent() ? failedAt : Instants.optional(row, 13);
    return new SessionView(
        SessionId.of(row.getString(1)),
        status,
        row.getLong(3),
        Duration.of(row.getLong(4), ChronoUnit.MICROS),
        Optional.ofNullable(row.getString(5)).map(Owner::of),
        row.getLong(6),
        Instants.optional(row, 7),
        row.getInt(8),
        waits
            ? Optional.of(whyWaiting(text(row, 11), failedAt.isPresent()))
            : Optional.ofNullable(row.getString(9)),
        waits ? waitsSince : Instants.optional(row, 10),
        Instants.optional(row, 14));
  }

  private static String text(ResultSet row, int column) throws SQLException {
    return Optional.ofNullable(row.getString(column)).orElse("");
  }

  private static String whyWaiting(String lastError, boolean hasFailed) {
    if (!hasFailed) {
      return "its first message waits for its earliest time";
    }
    return lastError.isEmpty()
        ? "its first message waits for its retry"
        : "its first message waits for its retry: " + lastError;
  }
}
