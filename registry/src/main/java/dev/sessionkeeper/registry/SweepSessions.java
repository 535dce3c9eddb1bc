package dev.sessionkeeper.registry;

import dev.sessionkeeper.store.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends expired sessions, at the time of their expiry. Any node may do this at any time: rows that
 * another transaction has locked are skipped.
 */
record SweepSessions(Database database, Consumer<RegistryEvent> events) {
  private static final Logger log = LoggerFactory.getLogger(SweepSessions.class);
  private static final int CHUNK = 500;

  private static final String SWEEP =
      """
      WITH due AS MATERIALIZED (
        SELECT r AS s
          FROM keeper.registered_session r
         WHERE r.ended_at IS NULL AND r.expires_at <= keeper.now()
         ORDER BY r.expires_at
         LIMIT %d
           FOR NO KEY UPDATE SKIP LOCKED)
      SELECT (keeper.end_session(s, (s).expires_at, 'expired')).kind FROM due
      """
          .formatted(
              CHUNK); // Matches sessions without a ledger row. A session that ended before them
  // stays before them.

  // Matches sessions without a ledger row. A session that ended before them stays before them.
  private static final String FOLLOW_CLOCK =
      """
      WITH clock AS MATERIALIZED (SELECT keeper.now() AS now),
      ahead AS MATERIALIZED (
        SELECT s.session_id,
               greatest(clock.now, (SELECT max(r.ended_at) FROM keeper.registered_session r
                                     WHERE r.user_id = s.user_id AND r.capacity_id = s.capacity_id)) AS start
          FROM keeper.registered_session s, clock
         WHERE s.ended_at IS NULL AND s.meter_seq = 0 AND s.started_at > clock.now + interval '1 second'
           FOR NO KEY UPDATE OF s SKIP LOCKED)
      UPDATE keeper.registered_session s
         SET started_at = a.start, metered_through = a.start,
             expires_at = a.start + (s.expires_at - s.started_at)
        FROM ahead a
       WHERE s.session_id = a.session_id AND s.started_at > a.start
      RETURNING keeper.tell_session('session.renewed', s)
      """; // registered_session_active: as many rows as are active

  int all() {
    followClock();
    int total = 0;
    List<Integer> kinds;
    do {
      kinds = chunk();
      kinds.forEach(kind -> events.accept(new RegistryEvent.Expired(kind)));
      total += kinds.size();
    } while (kinds.size() == CHUNK && !Thread.currentThread().isInterrupted());
    return total;
  }

  /**
   * Moves the beginning of sessions that begin in the future to now. They exist if the database's
   * clock was set back, and would otherwise cost nothing and not end until the clock reaches that
   * time again.
   */
  private void followClock() {
    int moved =
        database.inStatement(
            connection -> {
              try (var statement = connection.createStatement();
                  var rows = statement.executeQuery(FOLLOW_CLOCK)) {
                int count = 0;
                while (rows.next()) {
                  count++;
                }
                return count;
              }
            });
    if (moved > 0) {
      log.warn(
          "The database's clock was set back: {} sessions that began ahead of it begin now", moved);
    }
  }

  private List<Integer> chunk() {
    return database.inStatement(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(SWEEP)) {
            var kinds = new ArrayList<Integer>();
            while (rows.next()) {
              kinds.add(rows.getInt(1));
            }
            return kinds;
          }
        });
  }
}
