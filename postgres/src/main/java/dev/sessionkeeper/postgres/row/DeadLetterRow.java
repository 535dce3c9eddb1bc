package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import dev.sessionkeeper.spi.DeadLetter;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/** A dead letter, as every list of dead letters reads it. */
public final class DeadLetterRow {
  /** The columns, for statements. */
  public static final String COLUMNS =
      "id, session, seq, message_id, form, content_type, body, properties, ttl_us, not_before, attempts,"
          + " reason, last_error, enqueued_at, dead_at, replays";

  private DeadLetterRow() {}

  public static DeadLetter of(ResultSet row) throws SQLException {
    var session = Optional.ofNullable(row.getString(2)).map(SessionId::of);
    return new DeadLetter(
        Long.toString(row.getLong(1)),
        MessageRow.at(row, 4, session),
        row.getLong(3),
        row.getInt(11),
        row.getString(12),
        row.getString(13),
        Instants.of(row, 14),
        Instants.of(row, 15),
        row.getInt(16));
  }

  /** Returns whether a text can be the id of a dead letter. */
  public static boolean isId(String text) {
    return text.matches("[0-9]{1,18}");
  }
}
