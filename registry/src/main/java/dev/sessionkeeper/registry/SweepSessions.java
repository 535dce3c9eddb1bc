package dev.sessionkeeper.registry;

import dev.sessionkeeper.store.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Ends sessions that are past their end, at their end. Any node may do it at any time: rows that
 * someone else has locked are left out.
 */
record SweepSessions(Database database, Consumer<RegistryEvent> events) {
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
          .formatted(CHUNK); // registered_session_expiry (expires_at)

  int all() {
    int total = 0;
    List<Integer> kinds;
    do {
      kinds = chunk();
      kinds.forEach(kind -> events.accept(new RegistryEvent.Expired(kind)));
      total += kinds.size();
    } while (kinds.size() == CHUNK && !Thread.currentThread().isInterrupted());
    return total;
  }

  private List<Integer> chunk() {
    return database.inTransaction(
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
