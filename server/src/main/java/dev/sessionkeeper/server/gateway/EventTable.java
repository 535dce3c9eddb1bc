package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.EventId;
import dev.sessionkeeper.github.RepositoryRef;
import dev.sessionkeeper.server.json.Json;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** Writes events and what became of them, on the connection of the caller. */
final class EventTable {
  // The sorting is done before the first lock is taken, so two deliveries never wait in a circle.
  private static final String LOCK =
      """
      SELECT pg_advisory_xact_lock(k)
        FROM (SELECT DISTINCT hashtextextended(x, 6) AS k FROM unnest(?) x ORDER BY k) sorted
      """;
  private static final String INSERT =
      """
      INSERT INTO keeper.github_event (id, delivery_id, type, action, repository, entity_type, entity_id, session,
                                       traceparent, headers, verdicts, content_type, payload)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING
      RETURNING seq, received_at
      """;
  private static final String FIND =
      "SELECT seq, traceparent FROM keeper.github_event WHERE id = ?"; // github_event_id
  private static final String INSERT_ROUTES =
      """
      INSERT INTO keeper.github_route (event, message_id, bot, queue, session, replay)
      SELECT ?, u.message_id, u.bot, u.queue, u.session, ?
        FROM unnest(?, ?, ?, ?) u(message_id, bot, queue, session)
      ON CONFLICT (event, message_id) DO NOTHING
      """;
  private static final String ROUTES =
      """
      SELECT bot, queue, session, message_id, replay
        FROM keeper.github_route WHERE event = ? ORDER BY replay IS NOT NULL, bot, message_id
      """; // github_route_pkey (event, message_id)
  private static final String FORGET =
      """
      DELETE FROM keeper.github_event WHERE seq IN (
        SELECT seq FROM keeper.github_event
         WHERE received_at < clock_timestamp() - make_interval(secs => ?) ORDER BY received_at LIMIT ?)
      """; // github_event_received

  private EventTable() {}

  /** An event that was stored now. */
  record Inserted(long seq, Instant receivedAt) {}

  /** An event that is there. */
  record Known(long seq, String traceparent) {}

  /**
   * Waits until nobody else stores events of these sessions, and keeps others waiting until the
   * transaction ends: numbers drawn from now on follow the order of commits (seed 0.19).
   */
  static void lock(Connection connection, Collection<String> sessions) throws SQLException {
    if (sessions.isEmpty()) {
      return;
    }
    try (var statement = connection.prepareStatement(LOCK)) {
      statement.setArray(1, connection.createArrayOf("text", sessions.toArray()));
      statement.execute();
    }
  }

  /** Stores it; empty when an event of this id is there. */
  static Optional<Inserted> insert(Connection connection, NewEvent added) throws SQLException {
    var event = added.event();
    try (var statement = connection.prepareStatement(INSERT)) {
      statement.setObject(1, event.id().value());
      statement.setString(2, event.deliveryId());
      statement.setString(3, event.type());
      statement.setString(4, event.action().map(EventTable::storable).orElse(null));
      statement.setString(
          5,
          event.repository().map(RepositoryRef::fullName).map(EventTable::storable).orElse(null));
      statement.setString(6, storable(event.entity().type()));
      statement.setString(7, storable(event.entity().id()));
      statement.setString(8, added.session());
      statement.setString(9, added.trace().toString());
      statement.setString(10, json(added.headers()));
      statement.setString(11, json(added.verdicts()));
      statement.setString(12, storable(added.raw().contentType().orElse("application/json")));
      statement.setBytes(13, added.raw().body());
      try (var rows = statement.executeQuery()) {
        return rows.next()
            ? Optional.of(
                new Inserted(rows.getLong(1), rows.getObject(2, OffsetDateTime.class).toInstant()))
            : Optional.empty();
      }
    }
  }

  static Optional<Known> find(Connection connection, EventId id) throws SQLException {
    try (var statement = connection.prepareStatement(FIND)) {
      statement.setObject(1, id.value());
      try (var rows = statement.executeQuery()) {
        return rows.next()
            ? Optional.of(new Known(rows.getLong(1), rows.getString(2)))
            : Optional.empty();
      }
    }
  }

  /** Writes down the messages of an event. All of them are of the same replay, or of none. */
  static void addRoutes(Connection connection, long event, List<RoutedMessage> routes)
      throws SQLException {
    if (routes.isEmpty()) {
      return;
    }
    try (var statement = connection.prepareStatement(INSERT_ROUTES)) {
      statement.setLong(1, event);
      statement.setObject(2, routes.getFirst().replay().orElse(null), java.sql.Types.OTHER);
      setTexts(connection, statement, 3, routes, RoutedMessage::messageId);
      setTexts(connection, statement, 4, routes, RoutedMessage::bot);
      setTexts(connection, statement, 5, routes, RoutedMessage::queue);
      setTexts(connection, statement, 6, routes, route -> route.sessionId().orElse(null));
      statement.executeUpdate();
    }
  }

  private static void setTexts(
      Connection connection,
      java.sql.PreparedStatement statement,
      int index,
      List<RoutedMessage> routes,
      Function<RoutedMessage, @org.jspecify.annotations.Nullable String> text)
      throws SQLException {
    statement.setArray(
        index, connection.createArrayOf("text", routes.stream().map(text).toArray()));
  }

  /** The messages of an event: those of its arrival first. */
  static List<RoutedMessage> routes(Connection connection, long event) throws SQLException {
    try (var statement = connection.prepareStatement(ROUTES)) {
      statement.setLong(1, event);
      try (var rows = statement.executeQuery()) {
        var routes = new ArrayList<RoutedMessage>();
        while (rows.next()) {
          routes.add(
              new RoutedMessage(
                  rows.getString(1),
                  rows.getString(2),
                  Optional.ofNullable(rows.getString(3)),
                  rows.getString(4),
                  Optional.ofNullable(rows.getObject(5, UUID.class))));
        }
        return routes;
      }
    }
  }

  /** Forgets some events that are older than this; tells how many. */
  static int forget(Connection connection, long seconds, int most) throws SQLException {
    try (var statement = connection.prepareStatement(FORGET)) {
      statement.setDouble(1, (double) seconds);
      statement.setInt(2, most);
      return statement.executeUpdate();
    }
  }

  /** A text without what PostgreSQL cannot keep; a payload may hold anything. */
  private static String storable(String text) {
    return text.replace('\u0000', '\uFFFD');
  }

  static String json(Object value) {
    return storable(new String(Json.write(value), StandardCharsets.UTF_8));
  }
}
