package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Stores streams in PostgreSQL. */
final class PostgresStreamLog implements StreamLog {
  // The database counts the bytes, so that no large event is sent in vain.
  private static final String READ =
      """
      SELECT id, external_id, event, data, at
        FROM (SELECT page.*, sum(octet_length(data)) OVER (ORDER BY id) AS through
                FROM (SELECT id, external_id, event, data, at FROM keeper.stream_event
                       WHERE stream = ? AND id > ? ORDER BY id LIMIT ?) page) counted
       WHERE through <= ? OR through = octet_length(data)
       ORDER BY id
      """; // stream_event_pkey (stream, id)

  private static final String FIND =
      "SELECT id FROM keeper.stream_event WHERE stream = ? AND key = ?"; // stream_event_key

  private static final String LIST =
      """
      SELECT name, first_id, last_id FROM keeper.stream
       WHERE starts_with(name, ?) AND name COLLATE "C" > ? ORDER BY name COLLATE "C" LIMIT ?
      """;

  private static final String BOUNDS = "SELECT first_id, last_id FROM keeper.stream WHERE name = ?";

  private static final String LAST_IDS =
      "SELECT name, last_id FROM keeper.stream WHERE name = ANY (?)";

  // The deleted events are a prefix of each stream, even after the clock was set back.
  private static final String FORGET =
      """
      WITH old AS (
        SELECT stream, max(id) AS last
          FROM (SELECT stream, id FROM keeper.stream_event
                 WHERE at < clock_timestamp() - make_interval(secs => ?)
                 ORDER BY at LIMIT ?) oldest
         GROUP BY stream),
      held AS MATERIALIZED (
        SELECT name, old.last FROM keeper.stream JOIN old ON old.stream = name
         ORDER BY name FOR UPDATE OF stream),
      moved AS (
        UPDATE keeper.stream SET first_id = held.last + 1
          FROM held WHERE stream.name = held.name AND stream.first_id <= held.last)
      DELETE FROM keeper.stream_event gone USING held
       WHERE gone.stream = held.name AND gone.id <= held.last
      """; // stream_event_at (at), stream_event_pkey (stream, id)

  private final Database database;

  PostgresStreamLog(Database database) {
    this.database = database;
  }

  @Override
  public List<NewEvent.Appended> append(String stream, List<NewEvent> events) {
    return new AppendEvents(database).append(stream, events);
  }

  @Override
  public OptionalLong find(String stream, String externalId) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(FIND)) {
            statement.setString(1, stream);
            statement.setString(2, NewEvent.keyOf(externalId));
            try (var rows = statement.executeQuery()) {
              return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
            }
          }
        });
  }

  @Override
  public List<Named> list(String prefix, String after, int limit) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(LIST)) {
            statement.setString(1, prefix);
            statement.setString(2, after);
            statement.setInt(3, limit);
            var streams = new ArrayList<Named>();
            try (var rows = statement.executeQuery()) {
              while (rows.next()) {
                streams.add(
                    new Named(rows.getString(1), new Bounds(rows.getLong(2), rows.getLong(3))));
              }
            }
            return streams;
          }
        });
  }

  @Override
  public List<StreamEvent> read(String stream, long after, int limit, long maxBytes) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(READ)) {
            statement.setString(1, stream);
            statement.setLong(2, after);
            statement.setInt(3, limit);
            statement.setLong(4, maxBytes);
            try (var rows = statement.executeQuery()) {
              var events = new ArrayList<StreamEvent>();
              while (rows.next()) {
                events.add(event(rows));
              }
              return events;
            }
          }
        });
  }

  private static StreamEvent event(ResultSet row) throws SQLException {
    return new StreamEvent(
        row.getLong(1),
        Optional.ofNullable(row.getString(2)),
        row.getString(3),
        row.getString(4),
        row.getObject(5, OffsetDateTime.class).toInstant());
  }

  @Override
  public Bounds bounds(String stream) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(BOUNDS)) {
            statement.setString(1, stream);
            try (var rows = statement.executeQuery()) {
              return rows.next() ? new Bounds(rows.getLong(1), rows.getLong(2)) : Bounds.EMPTY;
            }
          }
        });
  }

  @Override
  public Map<String, Long> lastIds(Collection<String> streams) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(LAST_IDS)) {
            statement.setArray(1, Columns.array(connection, "text", streams));
            var ids = new HashMap<String, Long>();
            try (var rows = statement.executeQuery()) {
              while (rows.next()) {
                ids.put(rows.getString(1), rows.getLong(2));
              }
            }
            return ids;
          }
        });
  }

  @Override
  public int forgetOlderThan(Duration age, int most) {
    return database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(FORGET)) {
            statement.setDouble(1, age.toMillis() / 1000.0);
            statement.setInt(2, most);
            return statement.executeUpdate();
          }
        });
  }
}
