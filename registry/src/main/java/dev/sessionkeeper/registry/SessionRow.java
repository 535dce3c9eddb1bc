package dev.sessionkeeper.registry;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.UUID;

/** Reads sessions from rows of PostgreSQL. */
final class SessionRow {
  /** The columns that {@link #read} needs, of a row named s. */
  static final String COLUMNS =
      """
      s.session_id, s.user_id, s.tenant_id, s.capacity_id, s.kind, s.started_at,
             coalesce(s.ended_at, s.expires_at) AS ends_at,
             s.ended_at IS NULL AND s.expires_at > keeper.now() AS active
      """
          .strip();

  private SessionRow() {}

  /** Reads a row whose columns begin with {@link #COLUMNS}. */
  static RegisteredSession read(ResultSet rows) throws SQLException {
    return read(rows, 1);
  }

  /**
   * Reads a row in which {@link #COLUMNS} begin at this index. By index, because every PUT reads
   * one.
   */
  static RegisteredSession read(ResultSet rows, int first) throws SQLException {
    return new RegisteredSession(
        rows.getObject(first, UUID.class),
        rows.getObject(first + 1, UUID.class),
        rows.getObject(first + 2, UUID.class),
        rows.getObject(first + 3, UUID.class),
        rows.getInt(first + 4),
        instant(rows, first + 5),
        instant(rows, first + 6),
        rows.getBoolean(first + 7));
  }

  static Instant instant(ResultSet rows, int column) throws SQLException {
    return rows.getObject(column, OffsetDateTime.class).toInstant();
  }
}
