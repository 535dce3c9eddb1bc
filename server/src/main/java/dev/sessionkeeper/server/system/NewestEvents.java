package dev.sessionkeeper.server.system;

import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.store.Database;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the newest events of all visible streams. */
final class NewestEvents {
  private static final String NEWEST =
      """
      SELECT id, event, left(data, 65536), at FROM keeper.stream_event
       WHERE stream = ? AND id < ? AND (? = '' OR event = ?) ORDER BY id DESC LIMIT ?
      """; // stream_event_pkey (stream, id)

  private final Database database;

  NewestEvents(Database database) {
    this.database = database;
  }

  /** An event of a stream; its data as JSON, or as text if it was truncated. */
  record Event(long id, String event, Optional<RawJson> data, Optional<String> text, Instant at) {}

  /** The newest events. */
  record Events(List<Event> events, Optional<Long> before) {}

  Events newest(String stream, long before, String event, int limit) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(NEWEST)) {
            statement.setString(1, stream);
            statement.setLong(2, before);
            statement.setString(3, event);
            statement.setString(4, event);
            statement.setInt(5, limit);
            try (var rows = statement.executeQuery()) {
              var events = new ArrayList<Event>();
              while (rows.next()) {
                var data = rows.getString(3);
                var json = RawJson.of(data.getBytes(StandardCharsets.UTF_8));
                events.add(
                    new Event(
                        rows.getLong(1),
                        rows.getString(2),
                        json,
                        json.isPresent() ? Optional.empty() : Optional.of(data),
                        rows.getObject(4, OffsetDateTime.class).toInstant()));
              }
              return new Events(
                  events,
                  events.size() < limit ? Optional.empty() : Optional.of(events.getLast().id()));
            }
          }
        });
  }
}
