package dev.sessionkeeper.registry;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.UUID;

/** Reads sessions from rows of PostgreSQL. */
final class SessionRow {
  /** The columns that {@link #read} needs, of a row that is named s. */
  static final String COLUMNS =
      """
      s.session_id, s.user_id, s.tenant_id, s.capacity_id, s.kind, s.started_at,
             coalesce(s.ended_at, s.expires_at) AS ends_at,
             s.ended_at IS NULL AND s.expires_at > keeper.now() AS active
      """
          .strip();

  private SessionRow() {}

  static RegisteredSession read(ResultSet rows) throws SQLException {
    return new RegisteredSession(
        rows.getObject("session_id", UUID.class),
        rows.getObject("user_id", UUID.class),
        rows.getObject("tenant_id", UUID.class),
        rows.getObject("capacity_id", UUID.class),
        rows.getInt("kind"),
        instant(rows, "started_at"),
        instant(rows, "ends_at"),
        rows.getBoolean("active"));
  }

  private static Instant instant(ResultSet rows, String column) throws SQLException {
    return rows.getObject(column, OffsetDateTime.class).toInstant();
  }
}
