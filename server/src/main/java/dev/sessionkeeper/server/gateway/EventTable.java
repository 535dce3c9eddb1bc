package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.EventId;
import dev.sessionkeeper.server.json.Json;
import dev.sessionkeeper.store.Columns;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Locks sessions and finds events, on the caller's connection. */
final class EventTable {
  // The locks are taken in sorted order, so two groups cannot deadlock.
  static final String LOCK =
      """
      SELECT count(pg_advisory_xact_lock(k))
        FROM (SELECT DISTINCT hashtextextended(x, 6) AS k FROM unnest(?) x ORDER BY k) sorted
      """;
  private static final String FIND =
      """
      SELECT id, seq, traceparent, digest FROM keeper.github_event WHERE id = ANY (?)
      UNION
      SELECT id, seq, traceparent, digest FROM keeper.github_event WHERE digest = ANY (?)
      """; // github_event_id, github_event_digest

  /** Joins events {@code e} with the payload that they share with messages, as {@code b.bytes}. */
  static final String WITH_PAYLOAD =
      "keeper.github_event e LEFT JOIN keeper.shared_body b ON b.id = e.id AND e.payload IS NULL";

  private EventTable() {}

  /** A stored event. */
  record Known(EventId id, long seq, String traceparent) {}

  /** The stored events of some deliveries. */
  static final class Found {
    private final Map<EventId, Known> byId = new HashMap<>();
    private final Map<ByteBuffer, Known> byDigest = new HashMap<>();

    /** Returns the event of this delivery, or else one with the same signed body. */
    Optional<Known> of(NewDelivery delivery) {
      return Optional.ofNullable(byId.get(delivery.event().id()))
          .or(() -> Optional.ofNullable(byDigest.get(ByteBuffer.wrap(delivery.digest()))));
    }

    Collection<Long> seqs() {
      return byId.values().stream().map(Known::seq).toList();
    }
  }

  /**
   * Waits until no other transaction stores events of these sessions, and makes others wait until
   * this transaction ends, so that sequence numbers follow the order of commits.
   *
   * @param patience the longest wait for this and every later lock of the transaction
   */
  static void lock(Connection connection, Collection<String> sessions, Duration patience)
      throws SQLException {
    if (sessions.isEmpty()) {
      return;
    }
    try (var statement = connection.prepareStatement(within(patience, LOCK))) {
      statement.setArray(1, Columns.array(connection, "text", sessions));
      statement.execute();
    }
  }

  /** Returns a statement that first sets the longest wait for a lock, in the same round trip. */
  static String within(Duration patience, String statement) {
    return "SET LOCAL lock_timeout = " + patience.toMillis() + ";\n" + statement;
  }

  /** Finds the events of these deliveries, by delivery id or by signed body. */
  static Found find(Connection connection, Collection<NewDelivery> deliveries) throws SQLException {
    try (var statement = connection.prepareStatement(FIND)) {
      new Columns<>(statement, List.copyOf(deliveries))
          .add("uuid", one -> one.event().id().value())
          .addBytes(NewDelivery::digest);
      try (var rows = statement.executeQuery()) {
        var found = new Found();
        while (rows.next()) {
          var id = new EventId(rows.getObject(1, UUID.class));
          var known = new Known(id, rows.getLong(2), rows.getString(3));
          found.byId.put(id, known);
          Optional.ofNullable(rows.getBytes(4))
              .ifPresent(digest -> found.byDigest.put(ByteBuffer.wrap(digest), known));
        }
        return found;
      }
    }
  }

  /** Removes characters that PostgreSQL cannot store; a payload may contain anything. */
  static String storable(String text) {
    return text.replace('\u0000', '\uFFFD');
  }

  static String json(Object value) {
    return storable(new String(Json.write(value), StandardCharsets.UTF_8));
  }
}
