package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * A message that a statement found.
 *
 * @param isExpired whether its time to live was over then
 * @param dueAt the earliest time to deliver it
 * @param expires when its time to live ends; never for a session with a row, whose messages are
 *     read again soon
 */
public record FoundMessage(
    Delivery delivery, boolean isExpired, Optional<Instant> dueAt, Instant expires) {
  public static FoundMessage of(ResultSet row, SessionId session, Instant expires)
      throws SQLException {
    return new FoundMessage(
        HandedRow.delivery(row, Optional.of(session)),
        HandedRow.flag(row),
        HandedRow.dueAt(row),
        expires);
  }

  /** Returns the same message after so many failed attempts. */
  public FoundMessage after(int failed) {
    var next =
        new Delivery(delivery.message(), delivery.sequence(), failed + 1, delivery.enqueuedAt());
    return new FoundMessage(next, isExpired, dueAt, expires);
  }

  public long sequence() {
    return delivery.sequence();
  }

  public int bytes() {
    return delivery.payload().size();
  }
}
