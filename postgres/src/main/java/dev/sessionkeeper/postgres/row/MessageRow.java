package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads a stored message. */
public final class MessageRow {
  private MessageRow() {}

  /**
   * Reads seven columns: id, form, content type, payload, properties, time to live and earliest
   * time.
   *
   * @param first the column of the id
   */
  public static Message at(ResultSet row, int first, Optional<SessionId> session)
      throws SQLException {
    return new Message(
        MessageId.of(row.getString(first)),
        session,
        payload(row.getInt(first + 1), row.getString(first + 2), row.getBytes(first + 3)),
        PropertyText.parse(nullable(row, first + 4)),
        duration(row, first + 5),
        Instants.optional(row, first + 6));
  }

  /** Reads the message of a row of the type {@code keeper.handed}. */
  static Message handed(ResultSet row, Optional<SessionId> session) throws SQLException {
    return new Message(
        MessageId.of(row.getString(14)),
        session,
        payload(row.getInt(8), row.getString(15), row.getBytes(16)),
        PropertyText.parse(nullable(row, 17)),
        duration(row, 13),
        Instants.optional(row, 12));
  }

  private static Payload payload(int form, String contentType, byte @Nullable [] bytes) {
    return Payload.stored(bytes == null ? new byte[0] : bytes, StoredCodes.form(form), contentType);
  }

  private static Optional<Duration> duration(ResultSet row, int column) throws SQLException {
    long micros = row.getLong(column);
    return row.wasNull() ? Optional.empty() : Optional.of(Duration.of(micros, ChronoUnit.MICROS));
  }

  private static @Nullable String nullable(ResultSet row, int column) throws SQLException {
    return row.getString(column);
  }
}
