package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.EventId;
import dev.sessionkeeper.github.RepositoryRef;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.EventLog;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Locks the sessions of deliveries and stores all rows that do not depend on messages, in one
 * statement.
 *
 * <p>PostgreSQL has received the whole statement before it takes a lock. So a process that freezes
 * keeps the lock only if it freezes between this statement and its COMMIT, while it sends the
 * messages.
 */
final class InsertDeliveries {
  // Rows are numbered in the order of arrival and under the locks, because the join yields no row
  // before the locks are taken.
  private static final String INSERT =
      """
      WITH locked AS MATERIALIZED (
      <lock>),
      inserted AS (
        INSERT INTO keeper.github_event (id, delivery_id, type, action, repository, entity_type, entity_id, session,
                                         traceparent, headers, verdicts, content_type, payload, digest)
        SELECT e.* FROM locked, unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) e
        ON CONFLICT DO NOTHING
        RETURNING id, seq, received_at),
      kept AS (
        INSERT INTO keeper.shared_body (id, bytes)
        SELECT b.id, b.bytes FROM unnest(?, ?) b (id, bytes) JOIN inserted USING (id)),
      routed AS (
        INSERT INTO keeper.github_route (event, message_id, bot, queue, session)
        SELECT i.seq, r.message_id, r.bot, r.queue, r.session
          FROM unnest(?, ?, ?, ?, ?) r (id, message_id, bot, queue, session) JOIN inserted i USING (id)),
      announced AS (
        INSERT INTO keeper.stream_outbox (stream, event, data)
        SELECT ?, a.event, a.data
          FROM unnest(?, ?, ?) a (id, event, data) JOIN inserted i USING (id) ORDER BY i.seq)
      SELECT id, seq, received_at FROM inserted
      """
          .replace("<lock>", EventTable.LOCK);

  private final Connection connection;
  private final Duration patience;

  /**
   * Prepares the statement.
   *
   * @param patience the longest wait for a lock in the transaction
   */
  InsertDeliveries(Connection connection, Duration patience) {
    this.connection = connection;
    this.patience = patience;
  }

  /**
   * A delivery with the values derived from it.
   *
   * @param shared the payload, if its messages share it
   * @param announcement a JSON document for subscribers
   */
  record Row(
      NewDelivery added,
      byte @Nullable [] shared,
      List<RoutedMessage> routes,
      String announcement) {
    private UUID id() {
      return added.event().id().value();
    }
  }

  private record Route(UUID event, RoutedMessage message) {}

  /** An event that was just stored. */
  record Inserted(long seq, Instant receivedAt) {}

  /**
   * Stores the rows whose id and digest are not stored yet. Waits for other transactions that store
   * events of these sessions, and makes others wait until this one ends, so that sequence numbers
   * follow the order of commits. No two of the rows may have the same id.
   */
  Map<EventId, Inserted> insert(Collection<String> sessions, List<Row> rows) throws SQLException {
    try (var statement = connection.prepareStatement(EventTable.within(patience, INSERT))) {
      var columns = new Columns<>(statement, rows).addTexts(sessions);
      addEvents(columns);
      var shared = rows.stream().filter(row -> row.shared() != null).toList();
      columns
          .of(shared)
          .add("uuid", Row::id)
          .addBytes(Row::shared)
          .of(routes(rows))
          .add("uuid", Route::event)
          .add("text", route -> route.message().messageId())
          .add("text", route -> route.message().bot())
          .add("text", route -> route.message().queue())
          .add("text", route -> route.message().sessionId().orElse(null))
          .of(rows)
          .addText(EventLog.GITHUB)
          .add("uuid", Row::id)
          .add("text", row -> row.added().event().type())
          .add("text", Row::announcement);
      statement.execute();
      // The first result belongs to SET.
      statement.getMoreResults();
      try (var found = statement.getResultSet()) {
        var inserted = new HashMap<EventId, Inserted>();
        while (found.next()) {
          inserted.put(
              new EventId(found.getObject(1, UUID.class)),
              new Inserted(found.getLong(2), found.getObject(3, OffsetDateTime.class).toInstant()));
        }
        return inserted;
      }
    }
  }

  private static void addEvents(Columns<Row> columns) throws SQLException {
    columns
        .add("uuid", Row::id)
        .add("text", row -> row.added().event().deliveryId())
        .add("text", row -> row.added().event().type())
        .add("text", row -> row.added().event().action().map(EventTable::storable).orElse(null))
        .add("text", row -> repositoryOf(row.added()))
        .add("text", row -> EventTable.storable(row.added().event().entity().type()))
        .add("text", row -> EventTable.storable(row.added().event().entity().id()))
        .add("text", row -> row.added().session())
        .add("text", row -> row.added().trace().toString())
        .add("text", row -> EventTable.json(row.added().headers()))
        .add("text", row -> EventTable.json(row.added().verdicts()))
        .add(
            "text",
            row -> EventTable.storable(row.added().raw().contentType().orElse("application/json")))
        .addBytes(row -> row.shared() == null ? row.added().raw().body() : null)
        .addBytes(row -> row.added().digest());
  }

  private static List<Route> routes(List<Row> rows) {
    var routes = new ArrayList<Route>();
    rows.forEach(row -> row.routes().forEach(route -> routes.add(new Route(row.id(), route))));
    return routes;
  }

  private static @Nullable String repositoryOf(NewDelivery added) {
    return added
        .event()
        .repository()
        .map(RepositoryRef::fullName)
        .map(EventTable::storable)
        .orElse(null);
  }
}
