package dev.sessionkeeper.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Appends to the streams of the event log, on the caller's connection: the event is stored if and
 * only if the caller's transaction commits.
 *
 * <p>Events of one stream are numbered by commit order, so a reader that has seen number n has seen
 * every earlier event. That needs a lock on the stream's row until the transaction ends, so append
 * as the last step.
 */
public final class EventLog {
  /** The stream of registered sessions: created, upgraded, expired, ended, renewed. */
  public static final String REGISTRY = "keeper.registry";

  /** The stream of queues and their sessions: dead letters, parked sessions, operators' acts. */
  public static final String QUEUES = "keeper.queues";

  /** The stream of stored GitHub events and the bots they were routed to. */
  public static final String GITHUB = "keeper.github";

  /** The notification channel for new events; the payload is the stream, or blank for any. */
  public static final String CHANNEL = "keeper_streams";

  private static final String APPEND =
      """
      WITH head AS (
        INSERT INTO keeper.stream AS s (name, last_id) VALUES (?, 1)
        ON CONFLICT (name) DO UPDATE SET last_id = s.last_id + 1
        RETURNING name, last_id)
      INSERT INTO keeper.stream_event (stream, id, event, data)
      SELECT name, last_id, ?, ? FROM head
      RETURNING id
      """; // stream_pkey (name)

  private static final String APPEND_LATER =
      """
      INSERT INTO keeper.stream_outbox (stream, event, data) SELECT ?, u.event, u.data FROM unnest(?, ?) u(event, data)
      """;

  private EventLog() {}

  /**
   * An event to append.
   *
   * @param data a JSON document
   */
  public record Entry(String event, String data) {}

  /**
   * Appends events whose numbers {@link NumberEvents} assigns later. This takes no lock, so writers
   * of one stream do not wait for each other's commits.
   */
  public static void appendLater(Connection connection, String stream, List<Entry> entries)
      throws SQLException {
    if (entries.isEmpty()) {
      return;
    }
    try (var statement = connection.prepareStatement(APPEND_LATER)) {
      statement.setString(1, stream);
      new Columns<>(statement, entries, 2).add("text", Entry::event).add("text", Entry::data);
      statement.executeUpdate();
    }
  }

  /**
   * Appends one event.
   *
   * @param data a JSON document
   * @return its number in the stream
   */
  public static long append(Connection connection, String stream, String event, String data)
      throws SQLException {
    try (var statement = connection.prepareStatement(APPEND)) {
      statement.setString(1, stream);
      statement.setString(2, event);
      statement.setString(3, data);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    }
  }
}
