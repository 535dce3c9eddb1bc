package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Finds events, newest first. */
final class ReadEvents {
  private static final String LIST = "events";
  private static final String COLUMNS =
      """
      SELECT e.seq, e.id, e.delivery_id, e.type, e.action, e.repository, e.entity_type, e.entity_id, e.session,
             e.received_at, octet_length(COALESCE(e.payload, b.bytes)),
             ARRAY(SELECT r.bot FROM keeper.github_route r WHERE r.event = e.seq AND r.replay IS NULL ORDER BY r.bot)
      """;
  private static final String PAGE =
      COLUMNS
          + " FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE e.seq < ? AND <conditions> ORDER BY e.seq DESC LIMIT ?"; // pkey
  private static final String ONE =
      COLUMNS
          + ", e.content_type, e.traceparent, e.headers, e.verdicts"
          + " FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE <conditions>"; // github_event_id
  private static final String PAYLOAD =
      "SELECT e.content_type, COALESCE(e.payload, b.bytes) FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE <conditions>"; // github_event_id

  private final Database database;

  ReadEvents(Database database) {
    this.database = database;
  }

  /** A row of the list and its place. */
  private record Row(long seq, EventView event) {}

  /** The bytes of a delivery as GitHub sent them. */
  record Original(String contentType, byte[] bytes) {}

  Page<EventView> page(EventQuery query, Caller caller, Page.Request request) {
    long before =
        request
            .cursor()
            .map(cursor -> Long.parseLong(PageCursor.keyOf(LIST, 1, cursor).getFirst()))
            .orElse(Long.MAX_VALUE);
    var conditions = query.conditions();
    EventQuery.narrow(conditions, caller);
    var rows =
        database.withConnection(
            connection -> rows(connection, conditions, before, request.limit() + 1));
    var page =
        Page.of(rows, request.limit(), row -> PageCursor.after(LIST, Long.toString(row.seq())));
    return new Page<>(page.items().stream().map(Row::event).toList(), page.next());
  }

  private static List<Row> rows(
      Connection connection, Conditions conditions, long before, int limit) throws SQLException {
    try (var statement = connection.prepareStatement(conditions.in(PAGE))) {
      statement.setLong(1, before);
      statement.setInt(conditions.bind(statement, 2), limit);
      try (var rows = statement.executeQuery()) {
        var found = new ArrayList<Row>();
        while (rows.next()) {
          found.add(new Row(rows.getLong(1), view(rows)));
        }
        return found;
      }
    }
  }

  Optional<EventView.Detail> find(UUID id, Caller caller) {
    var conditions = byId(id, caller);
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(conditions.in(ONE))) {
            conditions.bind(statement, 1);
            try (var rows = statement.executeQuery()) {
              return rows.next() ? Optional.of(detail(connection, rows)) : Optional.empty();
            }
          }
        });
  }

  Optional<Original> original(UUID id, Caller caller) {
    var conditions = byId(id, caller);
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(conditions.in(PAYLOAD))) {
            conditions.bind(statement, 1);
            try (var rows = statement.executeQuery()) {
              return rows.next()
                  ? Optional.of(new Original(rows.getString(1), rows.getBytes(2)))
                  : Optional.empty();
            }
          }
        });
  }

  private static Conditions byId(UUID id, Caller caller) {
    var conditions = new Conditions();
    conditions.add("e.id = ?", id);
    EventQuery.narrow(conditions, caller);
    return conditions;
  }

  private static EventView.Detail detail(Connection connection, ResultSet row) throws SQLException {
    var event = view(row);
    return new EventView.Detail(
        event,
        row.getString(13),
        row.getString(14),
        new RawJson(row.getString(15)),
        new RawJson(row.getString(16)),
        RoutedTable.find(connection, row.getLong(1)),
        "/events/" + event.eventId() + "/payload");
  }

  private static EventView view(ResultSet row) throws SQLException {
    return new EventView(
        row.getString(2),
        row.getString(3),
        row.getString(4),
        Optional.ofNullable(row.getString(5)),
        Optional.ofNullable(row.getString(6)),
        row.getString(7),
        row.getString(8),
        row.getString(9),
        row.getObject(10, OffsetDateTime.class).toInstant(),
        row.getLong(11),
        List.of((String[]) row.getArray(12).getArray()));
  }
}
