package dev.sessionkeeper.registry;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/** Reads, ends and renews sessions by their id. */
record SessionTable(Database database, Duration lifetime) {
  private static final String LIST_NAME = "sessions";

  private static final String FIND =
      "SELECT %s FROM keeper.registered_session s WHERE s.session_id = ?"
          .formatted(SessionRow.COLUMNS);

  private static final String END =
      """
      WITH held AS MATERIALIZED (
        SELECT r AS s
          FROM keeper.registered_session r
         WHERE r.session_id = ? AND r.ended_at IS NULL
           FOR NO KEY UPDATE)
      SELECT (keeper.end_session(
               s, keeper.now(),
               CASE WHEN (s).expires_at <= keeper.now() THEN 'expired' ELSE 'ended' END)).session_id
        FROM held
      """; // registered_session_pkey (session_id)

  private static final String RENEW =
      """
      UPDATE keeper.registered_session s
         SET expires_at = greatest(keeper.now() + ? * interval '1 microsecond', s.metered_through)
       WHERE s.session_id = ? AND s.ended_at IS NULL AND s.expires_at > keeper.now()
      RETURNING keeper.tell_session('session.renewed', s)
      """; // registered_session_pkey (session_id)

  private static final String ACTIVE =
      """
      SELECT kind, count(*)
        FROM keeper.registered_session
       WHERE ended_at IS NULL AND expires_at > keeper.now()
       GROUP BY kind
      """;

  /** A session after a call, and whether the call changed it. */
  record Change(RegisteredSession session, boolean made) {}

  Optional<RegisteredSession> find(UUID id) {
    return database.withConnection(connection -> find(connection, id));
  }

  private static Optional<RegisteredSession> find(Connection connection, UUID id)
      throws SQLException {
    try (var statement = connection.prepareStatement(FIND)) {
      statement.setObject(1, id);
      return all(statement).stream().findFirst();
    }
  }

  Optional<Change> end(UUID id, Optional<Actor> actor) {
    return change(
        id,
        connection -> {
          try (var statement = connection.prepareStatement(END)) {
            statement.setObject(1, id);
            if (!statement.executeQuery().next()) {
              return false;
            }
          }
          if (actor.isPresent()) {
            AuditLog.write(
                connection,
                new AuditLog.Entry(actor.get(), "registry.session.end", id.toString(), "", ""));
          }
          return true;
        });
  }

  Optional<Change> renew(UUID id) {
    return change(
        id,
        connection -> {
          try (var statement = connection.prepareStatement(RENEW)) {
            statement.setLong(1, lifetime.toNanos() / 1000);
            statement.setObject(2, id);
            return statement.executeQuery().next();
          }
        });
  }

  private Optional<Change> change(UUID id, Database.Work<Boolean> work) {
    return database.inTransaction(
        connection -> {
          boolean made = work.run(connection);
          return find(connection, id).map(session -> new Change(session, made));
        });
  }

  Page<RegisteredSession> list(SessionFilter filter, Page.Request page) {
    var where = new ArrayList<String>();
    var values = new ArrayList<Object>();
    filter.tenantObjectId().ifPresent(id -> add(where, values, "s.tenant_id = ?", id));
    filter.userObjectId().ifPresent(id -> add(where, values, "s.user_id = ?", id));
    filter.capacityId().ifPresent(id -> add(where, values, "s.capacity_id = ?", id));
    page.cursor().ifPresent(text -> add(where, values, "s.session_id < ?", idIn(text)));
    filter.active().ifPresent(wanted -> where.add(isActive(wanted)));
    var sql =
        "SELECT %s FROM keeper.registered_session s %s ORDER BY s.session_id DESC LIMIT ?"
            .formatted(
                SessionRow.COLUMNS, where.isEmpty() ? "" : "WHERE " + String.join(" AND ", where));
    values.add(page.limit() + 1);
    return Page.of(
        query(sql, values),
        page.limit(),
        last -> PageCursor.after(LIST_NAME, last.sessionId().toString()));
  }

  Map<Integer, Long> activeByKind() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(ACTIVE)) {
            var counts = new TreeMap<Integer, Long>();
            while (rows.next()) {
              counts.put(rows.getInt(1), rows.getLong(2));
            }
            return counts;
          }
        });
  }

  private List<RegisteredSession> query(String sql, List<Object> values) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.size(); i++) {
              statement.setObject(i + 1, values.get(i));
            }
            return all(statement);
          }
        });
  }

  private static List<RegisteredSession> all(PreparedStatement statement) throws SQLException {
    try (var rows = statement.executeQuery()) {
      var sessions = new ArrayList<RegisteredSession>();
      while (rows.next()) {
        sessions.add(SessionRow.read(rows));
      }
      return sessions;
    }
  }

  private static String isActive(boolean wanted) {
    var active = "(s.ended_at IS NULL AND s.expires_at > keeper.now())";
    return wanted ? active : "NOT " + active;
  }

  private static void add(List<String> where, List<Object> values, String term, Object value) {
    where.add(term);
    values.add(value);
  }

  private static UUID idIn(String cursor) {
    try {
      return UUID.fromString(PageCursor.keyOf(LIST_NAME, 1, cursor).get(0));
    } catch (IllegalArgumentException e) {
      throw new KeeperException.InvalidCursor(cursor);
    }
  }
}
