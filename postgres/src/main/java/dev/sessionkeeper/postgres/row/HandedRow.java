package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Instants;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/** The columns of the type {@code keeper.handed} that several kinds of rows have. */
public final class HandedRow {
  /** The columns, for statements. */
  public static final String COLUMNS =
      "kind, session, epoch, until, node, seq, attempts, form, is_expired, enqueued_at, due_at,"
          + " not_before, ttl_us, message_id, content_type, body, properties";

  private HandedRow() {}

  public static SessionId session(ResultSet row) throws SQLException {
    return SessionId.of(row.getString(2));
  }

  public static long epoch(ResultSet row) throws SQLException {
    return row.getLong(3);
  }

  public static Instant until(ResultSet row) throws SQLException {
    return Instants.of(row, 4);
  }

  /** Returns the node of a session with news, or the owner of a claimed one. */
  static String node(ResultSet row) throws SQLException {
    return row.getString(5);
  }

  public static long sequence(ResultSet row) throws SQLException {
    return row.getLong(6);
  }

  static boolean hasMessage(ResultSet row) throws SQLException {
    row.getLong(6);
    return !row.wasNull();
  }

  static boolean flag(ResultSet row) throws SQLException {
    return row.getBoolean(9);
  }

  public static Instant enqueuedAt(ResultSet row) throws SQLException {
    return Instants.of(row, 10);
  }

  /** Returns the earliest delivery of the message; empty if it is due. */
  static Optional<Instant> dueAt(ResultSet row) throws SQLException {
    return Instants.optional(row, 11);
  }

  /** The buckets of which a batch may have messages. */
  public static long buckets(ResultSet row) throws SQLException {
    return row.getLong(13);
  }

  public static Delivery delivery(ResultSet row, Optional<SessionId> session) throws SQLException {
    return new Delivery(
        MessageRow.handed(row, session), sequence(row), row.getInt(7) + 1, enqueuedAt(row));
  }
}
