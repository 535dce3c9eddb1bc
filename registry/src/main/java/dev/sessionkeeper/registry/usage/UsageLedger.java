package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Reads the ledger. */
record UsageLedger(Database database) {
  private static final String LIST_NAME = "usages";

  private static final String COLUMNS =
      """
      session_id, seq, type, user_id, tenant_id, capacity_id, kind, period_from, period_to,
             wmicros, units, corrects
      """
          .strip();

  private static final String FIND =
      "SELECT %s FROM keeper.usage_ledger WHERE session_id = ? AND seq = ?".formatted(COLUMNS);

  static Optional<LedgerRow> find(Connection connection, UUID session, int seq)
      throws SQLException {
    try (var statement = connection.prepareStatement(FIND)) {
      statement.setObject(1, session);
      statement.setInt(2, seq);
      return all(statement).stream().findFirst();
    }
  }

  /** Returns rows that overlap the interval, by tenant and time. */
  Page<LedgerRow> list(
      Optional<UUID> tenant, Optional<Instant> from, Optional<Instant> to, Page.Request page) {
    var where = new ArrayList<String>();
    var values = new ArrayList<Object>();
    tenant.ifPresent(id -> add(where, values, "tenant_id = ?", id));
    from.ifPresent(at -> add(where, values, "period_to > ?", time(at)));
    to.ifPresent(at -> add(where, values, "period_from < ?", time(at)));
    page.cursor()
        .ifPresent(
            text -> {
              where.add("(tenant_id, period_from, session_id, seq) > (?, ?, ?, ?)");
              values.addAll(keyIn(text));
            });
    values.add(page.limit() + 1);
    var sql =
        "SELECT %s FROM keeper.usage_ledger %s ORDER BY tenant_id, period_from, session_id, seq LIMIT ?"
            .formatted(COLUMNS, where.isEmpty() ? "" : "WHERE " + String.join(" AND ", where));
    var rows =
        database.withConnection(
            connection -> {
              try (var statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < values.size(); i++) {
                  statement.setObject(i + 1, values.get(i));
                }
                return all(statement);
              }
            });
    return Page.of(rows, page.limit(), UsageLedger::cursorBehind);
  }

  private static String cursorBehind(LedgerRow last) {
    return PageCursor.after(
        LIST_NAME,
        last.tenantObjectId().toString(),
        last.from().toString(),
        last.sessionId().toString(),
        Integer.toString(last.seq()));
  }

  private static List<Object> keyIn(String cursor) {
    var key = PageCursor.keyOf(LIST_NAME, 4, cursor);
    try {
      return List.of(
          UUID.fromString(key.get(0)),
          time(Instant.parse(key.get(1))),
          UUID.fromString(key.get(2)),
          Integer.parseInt(key.get(3)));
    } catch (IllegalArgumentException | DateTimeException e) {
      throw new KeeperException.InvalidCursor(cursor);
    }
  }

  private static List<LedgerRow> all(PreparedStatement statement) throws SQLException {
    try (var rows = statement.executeQuery()) {
      var found = new ArrayList<LedgerRow>();
      while (rows.next()) {
        found.add(row(rows));
      }
      return found;
    }
  }

  private static LedgerRow row(ResultSet rows) throws SQLException {
    return new LedgerRow(
        rows.getObject("session_id", UUID.class),
        rows.getInt("seq"),
        LedgerRow.Type.of(rows.getString("type")),
        rows.getObject("user_id", UUID.class),
        rows.getObject("tenant_id", UUID.class),
        rows.getObject("capacity_id", UUID.class),
        rows.getInt("kind"),
        rows.getObject("period_from", OffsetDateTime.class).toInstant(),
        rows.getObject("period_to", OffsetDateTime.class).toInstant(),
        rows.getBigDecimal("wmicros").toBigIntegerExact(),
        rows.getBigDecimal("units"),
        Optional.ofNullable(rows.getObject("corrects", Integer.class)));
  }

  private static OffsetDateTime time(Instant at) {
    return at.atOffset(ZoneOffset.UTC);
  }

  private static void add(List<String> where, List<Object> values, String term, Object value) {
    where.add(term);
    values.add(value);
  }
}
