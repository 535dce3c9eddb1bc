package dev.sessionkeeper.store;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes audit rows on the connection of the change, so that both are stored or neither is. */
public final class AuditLog {
  private static final String LIST = "audit";
  private static final String WRITE =
      """
      INSERT INTO keeper.audit (actor, source, action, target, reason, details, count)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """;
  private static final String READ =
      """
      SELECT id, at, actor, source, action, target, reason, details, count
        FROM keeper.audit WHERE <conditions> ORDER BY id DESC LIMIT ?
      """; // audit_pkey, audit_actor (actor, id), audit_target (target, id)

  private AuditLog() {}

  /**
   * One act of a person or of the product.
   *
   * @param target the object of the act, such as a queue and a session
   * @param count how many equal acts the row stands for
   */
  public record Entry(
      Actor actor, String action, String target, String reason, String details, int count) {
    /** Joins the actor's own reason with the description of the act, reason first. */
    public Entry {
      if (!actor.reason().isBlank()) {
        reason = reason.isBlank() ? actor.reason() : actor.reason() + "; " + reason;
        actor = new Actor(actor.name(), actor.source());
      }
    }

    public Entry(Actor actor, String action, String target, String reason, String details) {
      this(actor, action, target, reason, details, 1);
    }
  }

  /** An entry as it was stored. */
  public record Row(long id, Instant at, Entry entry) {}

  /** Selects rows; an empty field selects all. */
  public record Filter(
      Optional<String> actor,
      Optional<String> action,
      Optional<String> target,
      Optional<Instant> from,
      Optional<Instant> to) {}

  public static void write(Connection connection, Entry entry) throws SQLException {
    try (var statement = connection.prepareStatement(WRITE)) {
      statement.setString(1, text(entry.actor().name()));
      statement.setString(2, text(entry.actor().source()));
      statement.setString(3, text(entry.action()));
      statement.setString(4, text(entry.target()));
      statement.setString(5, text(entry.reason()));
      statement.setString(6, text(entry.details()));
      statement.setInt(7, entry.count());
      statement.executeUpdate();
    }
  }

  /** Reads a page of rows, the newest first. */
  public static Page<Row> read(Connection connection, Filter filter, Page.Request page)
      throws SQLException {
    var conditions = new ArrayList<String>(List.of("id < ?"));
    var values = new ArrayList<Object>();
    values.add(page.cursor().map(AuditLog::idIn).orElse(Long.MAX_VALUE));
    filter.actor().ifPresent(is -> add(conditions, values, "actor = ?", is));
    filter.action().ifPresent(is -> add(conditions, values, "action = ?", is));
    filter.target().ifPresent(is -> add(conditions, values, "target = ?", is));
    filter.from().ifPresent(at -> add(conditions, values, "at >= ?", at.atOffset(ZoneOffset.UTC)));
    filter.to().ifPresent(at -> add(conditions, values, "at < ?", at.atOffset(ZoneOffset.UTC)));
    values.add(page.limit() + 1);
    var sql = READ.replace("<conditions>", String.join(" AND ", conditions));
    try (var statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.size(); i++) {
        statement.setObject(i + 1, values.get(i));
      }
      try (var rows = statement.executeQuery()) {
        var found = new ArrayList<Row>();
        while (rows.next()) {
          found.add(row(rows));
        }
        return Page.of(found, page.limit(), AuditLog::cursorAfter);
      }
    }
  }

  /** Returns the cursor of the page after this row. */
  public static String cursorAfter(Row row) {
    return PageCursor.after(LIST, Long.toString(row.id()));
  }

  /**
   * Returns the id of the last row of the previous page, from the cursor of a page.
   *
   * @throws KeeperException.InvalidCursor if this list did not issue the cursor
   */
  public static long idIn(String cursor) {
    return PageCursor.numberOf(LIST, cursor);
  }

  private static void add(
      List<String> conditions, List<Object> values, String condition, Object value) {
    conditions.add(condition);
    values.add(value);
  }

  static Row row(ResultSet rows) throws SQLException {
    return new Row(
        rows.getLong(1),
        rows.getObject(2, OffsetDateTime.class).toInstant(),
        new Entry(
            new Actor(rows.getString(3), rows.getString(4)),
            rows.getString(5),
            rows.getString(6),
            rows.getString(7),
            rows.getString(8),
            rows.getInt(9)));
  }

  /** Removes NUL, which PostgreSQL cannot store in texts: an act must not fail because of it. */
  private static String text(String text) {
    return text.replace('\0', '\uFFFD');
  }
}
