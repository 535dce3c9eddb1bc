package dev.sessionkeeper.store;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Assigns numbers to the events of the outbox and moves them into their streams.
 *
 * <p>Order: an event that is committed when a step begins precedes every event that commits after
 * the step has ended; events of one step are in the order in which they were written. So two
 * events, the second written after the commit of the first, keep their order, and a reader that has
 * seen number n has seen every earlier event. Any node may run the step; a lock admits one at a
 * time.
 */
public final class NumberEvents {
  // One statement and one round trip: a process that freezes keeps neither the lock nor a stream.
  private static final String MOVE =
      """
      WITH turn AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(hashtextextended('keeper.stream_outbox', 0)) AS is_ours),
      moved AS (
        DELETE FROM keeper.stream_outbox
         WHERE id IN (SELECT id FROM keeper.stream_outbox WHERE (SELECT is_ours FROM turn) ORDER BY id LIMIT ?)
        RETURNING id, stream, event, data, at),
      placed AS (
        SELECT *, row_number() OVER (PARTITION BY stream ORDER BY id) AS place FROM moved),
      head AS (
        INSERT INTO keeper.stream AS s (name, last_id)
        SELECT stream, count(*) FROM moved GROUP BY stream ORDER BY stream
        ON CONFLICT (name) DO UPDATE SET last_id = s.last_id + EXCLUDED.last_id
        RETURNING name, last_id),
      sizes AS (SELECT stream, count(*) AS size FROM moved GROUP BY stream)
      INSERT INTO keeper.stream_event (stream, id, event, data, at)
      SELECT p.stream, h.last_id - z.size + p.place, p.event, p.data, p.at
        FROM placed p
        JOIN head h ON h.name = p.stream
        JOIN sizes z ON z.stream = p.stream
      """; // stream_outbox_pkey (id), stream_pkey (name)

  private NumberEvents() {}

  /**
   * Numbers up to so many events in a transaction of its own.
   *
   * <p>The snapshot is older than the lock. That keeps the order: another node that had the lock in
   * between has moved its events, and no event in the snapshot was written after a later one was
   * visible.
   *
   * @return how many; also 0 if another node holds the lock
   */
  public static int step(Database database, int limit) {
    return database.inStatement(connection -> move(connection, limit));
  }

  private static int move(Connection connection, int limit) throws SQLException {
    try (var statement = connection.prepareStatement(MOVE)) {
      statement.setInt(1, limit);
      return statement.executeUpdate();
    }
  }
}
