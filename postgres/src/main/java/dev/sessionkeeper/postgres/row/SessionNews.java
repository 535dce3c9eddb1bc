package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * New messages for a session that a process holds.
 *
 * @param node the process
 */
public record SessionNews(SessionId session, long epoch, String node) {
  public static SessionNews of(ResultSet row) throws SQLException {
    return new SessionNews(HandedRow.session(row), HandedRow.epoch(row), HandedRow.node(row));
  }
}
