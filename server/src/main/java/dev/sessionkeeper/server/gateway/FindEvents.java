package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.server.http.QueueFilter;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds events, newest first. */
final class FindEvents {
  private static final String LIST = "events";
  private static final String COLUMNS =
      """
      SELECT e.seq, e.id, e.delivery_id, e.type, e.action, e.repository, e.entity_type, e.entity_id, e.session,
             e.received_at, octet_length(COALESCE(e.payload, b.bytes)),
             ARRAY(SELECT r.bot FROM keeper.github_route r
                    WHERE r.event = e.seq AND r.replay IS NULL
                      AND r.queue = ANY (COALESCE(?::text[], ARRAY[r.queue]))
                    ORDER BY r.bot)
      """; // github_route_pkey (event, message_id)

  /**
   * Selects the verdicts about bots of visible queues: today's bots, and the bots that received the
   * event.
   */
  private static final String VERDICTS =
      """
      CASE WHEN ?::text[] IS NULL THEN e.verdicts
           ELSE (SELECT COALESCE(json_agg(v), '[]')::text FROM json_array_elements(e.verdicts::json) v
                  WHERE v->>'bot' = ANY (?)
                     OR v->>'bot' IN (SELECT r.bot FROM keeper.github_route r
                                       WHERE r.event = e.seq AND r.queue = ANY (?)))
      END
      """;

  private static final String PAGE =
      COLUMNS
          + " FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE e.seq < ? AND <conditions> ORDER BY e.seq DESC LIMIT ?"; // pkey
  private static final String ONE =
      COLUMNS
          + ", e.content_type, e.traceparent, e.headers, "
          + VERDICTS
          + " FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE <conditions>"; // github_event_id
  private static final String PAYLOAD =
      "SELECT e.content_type, COALESCE(e.payload, b.bytes) FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE <conditions>"; // github_event_id

  private final Database database;
  private final Supplier<List<Bot>> bots;

  FindEvents(Database database, Supplier<List<Bot>> bots) {
    this.database = database;
    this.bots = bots;
  }

  /** A row of the list and its sequence number. */
  private record Row(long seq, EventView event) {}

  /** A payload, byte by byte as GitHub sent it. */
  record Original(String contentType, byte[] bytes) {}

  Page<EventView> page(EventQuery query, Reach reach, Page.Request request) {
    long before =
        request.cursor().map(cursor -> PageCursor.numberOf(LIST, cursor)).orElse(Long.MAX_VALUE);
    var conditions = query.conditions();
    EventQuery.narrow(conditions, reach.queues());
    var rows =
        database.withConnection(
            connection ->
                rows(connection, reach.queues(), conditions, before, request.limit() + 1));
    var page =
        Page.of(rows, request.limit(), row -> PageCursor.after(LIST, Long.toString(row.seq())));
    return new Page<>(page.items().stream().map(Row::event).toList(), page.next());
  }

  private static List<Row> rows(
      Connection connection, QueueFilter visible, Conditions conditions, long before, int limit)
      throws SQLException {
    try (var statement = connection.prepareStatement(conditions.in(PAGE))) {
      statement.setArray(1, queues(connection, visible));
      statement.setLong(2, before);
      statement.setInt(conditions.bind(statement, 3), limit);
      try (var rows = statement.executeQuery()) {
        var found = new ArrayList<Row>();
        while (rows.next()) {
          found.add(new Row(rows.getLong(1), view(rows)));
        }
        return found;
      }
    }
  }

  Optional<EventView.Detail> find(UUID id, Reach reach) {
    var conditions = byId(id, reach);
    var names =
        bots.get().stream().filter(bot -> reach.includes(bot.queue())).map(Bot::name).toList();
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(conditions.in(ONE))) {
            var queues = queues(connection, reach.queues());
            statement.setArray(1, queues);
            statement.setArray(2, queues);
            statement.setArray(3, Columns.array(connection, "text", names));
            statement.setArray(4, queues);
            conditions.bind(statement, 5);
            try (var rows = statement.executeQuery()) {
              return rows.next() ? Optional.of(detail(connection, rows, reach)) : Optional.empty();
            }
          }
        });
  }

  Optional<Original> original(UUID id, Reach reach) {
    var conditions = byId(id, reach);
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

  private static Conditions byId(UUID id, Reach reach) {
    var conditions = new Conditions();
    conditions.add("e.id = ?", id);
    EventQuery.narrow(conditions, reach.queues());
    return conditions;
  }

  /** Returns the names of the visible queues; null if all are visible. */
  private static @Nullable Array queues(Connection connection, QueueFilter visible)
      throws SQLException {
    return switch (visible) {
      case QueueFilter.All all -> null;
      case QueueFilter.Only only ->
          Columns.array(connection, "text", only.queues().stream().map(QueueName::value).toList());
    };
  }

  private static EventView.Detail detail(Connection connection, ResultSet row, Reach reach)
      throws SQLException {
    var event = view(row);
    var messages =
        RoutedTable.find(connection, row.getLong(1)).stream()
            .filter(message -> reach.includes(QueueName.of(message.queue())))
            .toList();
    return new EventView.Detail(
        event,
        row.getString(13),
        row.getString(14),
        new RawJson(row.getString(15)),
        new RawJson(row.getString(16)),
        messages,
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
