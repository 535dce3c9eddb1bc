package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Appends events to a stream of PostgreSQL in one statement, so that a frozen process never holds
 * the stream's lock.
 *
 * <p>If two concurrent requests have the same key, the unique index refuses the later one, whose
 * next attempt finds the first one's event.
 */
final class AppendEvents {
  private static final String UNIQUE_VIOLATION = "23505";
  private static final int MOST_TRIES = 5;

  private static final String APPEND =
      """
      WITH given AS (
        SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[])
                 WITH ORDINALITY AS g (event, data, external_id, key, place)),
      known AS (
        SELECT key, id FROM keeper.stream_event WHERE stream = ? AND key = ANY (?::text[])),
      fresh AS (
        SELECT given.*, row_number() OVER (ORDER BY place) AS number
          FROM given WHERE key IS NULL OR key NOT IN (SELECT key FROM known)),
      head AS (
        INSERT INTO keeper.stream AS s (name, last_id)
        SELECT ?, count(*) FROM fresh HAVING count(*) > 0
        ON CONFLICT (name) DO UPDATE SET last_id = s.last_id + EXCLUDED.last_id
        RETURNING name, last_id - (SELECT count(*) FROM fresh) AS before),
      stored AS (
        INSERT INTO keeper.stream_event (stream, id, event, data, external_id, key)
        SELECT head.name, head.before + number, event, data, external_id, key FROM fresh, head)
      SELECT coalesce(known.id, head.before + fresh.number), known.id IS NOT NULL
        FROM given
        LEFT JOIN known ON known.key = given.key
        LEFT JOIN fresh ON fresh.place = given.place
        LEFT JOIN head ON true
       ORDER BY given.place
      """; // stream_pkey (name), stream_event_key (stream, key)

  private final Database database;

  AppendEvents(Database database) {
    this.database = database;
  }

  List<NewEvent.Appended> append(String stream, List<NewEvent> events) {
    var firsts = new ArrayList<NewEvent>();
    var placeOfKey = new HashMap<String, Integer>();
    var places = new int[events.size()];
    for (int i = 0; i < events.size(); i++) {
      places[i] = placeOf(events.get(i), firsts, placeOfKey);
    }
    var stored = store(stream, firsts);
    var appended = new ArrayList<NewEvent.Appended>();
    var seen = new HashSet<Integer>();
    for (int place : places) {
      var first = stored.get(place);
      appended.add(seen.add(place) ? first : new NewEvent.Appended(first.id(), true));
    }
    return appended;
  }

  /** Returns the index of the event, or of the first one in the request with the same key. */
  private static int placeOf(NewEvent event, List<NewEvent> firsts, Map<String, Integer> known) {
    var same = event.key().map(known::get);
    if (same.isPresent()) {
      return same.get();
    }
    firsts.add(event);
    event.key().ifPresent(key -> known.put(key, firsts.size() - 1));
    return firsts.size() - 1;
  }

  private List<NewEvent.Appended> store(String stream, List<NewEvent> events) {
    for (int attempt = 1; ; attempt++) {
      var stored = database.inStatement(connection -> tryStore(connection, stream, events));
      if (stored.isPresent()) {
        return stored.get();
      }
      if (attempt == MOST_TRIES) {
        throw new KeeperException.Unavailable("The stream " + stream);
      }
    }
  }

  /** Returns empty if another request has stored one of the keys at the same moment. */
  private static Optional<List<NewEvent.Appended>> tryStore(
      Connection connection, String stream, List<NewEvent> events) throws SQLException {
    try (var statement = connection.prepareStatement(APPEND)) {
      new Columns<>(statement, events)
          .add("text", NewEvent::event)
          .add("text", NewEvent::data)
          .add("text", event -> event.externalId().orElse(null))
          .add("text", event -> event.key().orElse(null))
          .addText(stream)
          .add("text", event -> event.key().orElse(null))
          .addText(stream);
      var appended = new ArrayList<NewEvent.Appended>();
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          appended.add(new NewEvent.Appended(rows.getLong(1), rows.getBoolean(2)));
        }
      }
      return Optional.of(appended);
    } catch (SQLException e) {
      if (UNIQUE_VIOLATION.equals(e.getSQLState())) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
