package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.store.Columns;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Stores which messages were made from events, on the caller's connection. */
final class RoutedTable {
  private static final String INSERT =
      """
      INSERT INTO keeper.github_route (event, message_id, bot, queue, session, replay)
      SELECT * FROM unnest(?, ?, ?, ?, ?, ?)
      ON CONFLICT (event, message_id) DO NOTHING
      """;
  private static final String FIND =
      """
      SELECT event, bot, queue, session, message_id, replay
        FROM keeper.github_route WHERE event = ANY (?) ORDER BY event, replay IS NOT NULL, bot, message_id
      """; // github_route_pkey (event, message_id)

  private RoutedTable() {}

  /**
   * A message and its event.
   *
   * @param event the event's sequence number
   */
  record Row(long event, RoutedMessage message) {}

  static void insert(Connection connection, List<Row> rows) throws SQLException {
    if (rows.isEmpty()) {
      return;
    }
    try (var statement = connection.prepareStatement(INSERT)) {
      new Columns<>(statement, rows)
          .addLongs(Row::event)
          .add("text", row -> row.message().messageId())
          .add("text", row -> row.message().bot())
          .add("text", row -> row.message().queue())
          .add("text", row -> row.message().sessionId().orElse(null))
          .add("uuid", row -> row.message().replay().orElse(null));
      statement.executeUpdate();
    }
  }

  /** Returns the messages of events, by the event's sequence number; those of its arrival first. */
  static Map<Long, List<RoutedMessage>> find(Connection connection, Collection<Long> events)
      throws SQLException {
    try (var statement = connection.prepareStatement(FIND)) {
      statement.setArray(1, Columns.array(connection, "int8", events));
      try (var rows = statement.executeQuery()) {
        var found = new HashMap<Long, List<RoutedMessage>>();
        while (rows.next()) {
          found
              .computeIfAbsent(rows.getLong(1), event -> new ArrayList<>())
              .add(
                  new RoutedMessage(
                      rows.getString(2),
                      rows.getString(3),
                      Optional.ofNullable(rows.getString(4)),
                      rows.getString(5),
                      Optional.ofNullable(rows.getObject(6, UUID.class))));
        }
        return found;
      }
    }
  }

  /** Returns the messages of one event; those of its arrival first. */
  static List<RoutedMessage> find(Connection connection, long event) throws SQLException {
    return find(connection, List.of(event)).getOrDefault(event, List.of());
  }
}
