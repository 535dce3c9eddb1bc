package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.github.ReadResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** Reads stored events, oldest first, for a replay. */
final class KeptEvents {
  private static final JsonMapper HEADERS = JsonMapper.builder().build();
  private static final String SEQS =
      "SELECT e.seq, octet_length(COALESCE(e.payload, b.bytes)) FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE e.seq BETWEEN ? AND ? AND <conditions> ORDER BY e.seq LIMIT ?"; // pkey
  private static final String EVENT =
      "SELECT e.type, e.delivery_id, e.content_type, COALESCE(e.payload, b.bytes), e.received_at,"
          + " e.traceparent, e.headers FROM "
          + EventTable.WITH_PAYLOAD
          + " WHERE e.seq = ?"; // github_event_pkey, shared_body_pkey

  private KeptEvents() {}

  /**
   * A stored event.
   *
   * @param headers the headers of {@link HookHeaders}
   * @param body as GitHub sent it
   */
  record Kept(
      long seq,
      GitHubEvent event,
      Instant receivedAt,
      TraceContext trace,
      Map<String, String> headers,
      byte[] body) {}

  /**
   * Returns the sequence numbers of the next events, oldest first, bounded in count and bytes; the
   * first one is included whatever its size.
   */
  static List<Long> seqs(
      Connection connection, Conditions conditions, long from, long to, int most, long bytes)
      throws SQLException {
    try (var statement = connection.prepareStatement(conditions.in(SEQS))) {
      statement.setLong(1, from);
      statement.setLong(2, to);
      statement.setInt(conditions.bind(statement, 3), most);
      try (var rows = statement.executeQuery()) {
        var found = new ArrayList<Long>();
        long sum = 0;
        while (rows.next()) {
          sum += rows.getLong(2);
          if (!found.isEmpty() && sum > bytes) {
            return found;
          }
          found.add(rows.getLong(1));
        }
        return found;
      }
    }
  }

  /**
   * Returns the event; empty if it was deleted, or if an older version stored an event that this
   * version refuses.
   */
  static Optional<Kept> read(Connection connection, long seq) throws SQLException {
    try (var statement = connection.prepareStatement(EVENT)) {
      statement.setLong(1, seq);
      try (var rows = statement.executeQuery()) {
        if (!rows.next()) {
          return Optional.empty();
        }
        var raw =
            new RawDelivery(
                Optional.of(rows.getString(1)),
                Optional.of(rows.getString(2)),
                Optional.empty(),
                Optional.of(rows.getString(3)),
                rows.getBytes(4));
        var receivedAt = rows.getObject(5, OffsetDateTime.class).toInstant();
        var trace = TraceContext.continuing(rows.getString(6));
        return ReadDelivery.readAgain(raw) instanceof ReadResult.Accepted accepted
            ? Optional.of(
                new Kept(
                    seq,
                    accepted.event(),
                    receivedAt,
                    trace,
                    headers(rows.getString(7)),
                    raw.body()))
            : Optional.empty();
      }
    }
  }

  private static Map<String, String> headers(String json) {
    var headers = new LinkedHashMap<String, String>();
    HEADERS
        .readTree(json)
        .properties()
        .forEach(header -> headers.put(header.getKey(), header.getValue().asString()));
    return headers;
  }
}
