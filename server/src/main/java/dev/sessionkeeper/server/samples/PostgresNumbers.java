package dev.sessionkeeper.server.samples;

import dev.sessionkeeper.store.Database;
import java.util.HashMap;
import java.util.Map;

/** Reads the numbers of all queues of the database in one statement, without a scan of messages. */
final class PostgresNumbers implements ReadNumbers {
  private static final String ALL =
      """
      SELECT k.name, COALESCE(t.arrived, 0), COALESCE(t.gone, 0), COALESCE(t.dead, 0),
             COALESCE(a.parked, 0), COALESCE(a.paused, 0), COALESCE(h.held, 0),
             COALESCE((extract(epoch FROM clock_timestamp() - LEAST(
               (SELECT m.enqueued_at FROM keeper.message m WHERE m.queue::bigint = k.id ORDER BY m.xid LIMIT 1),
               (SELECT b.enqueued_at FROM keeper.bundle b WHERE b.queue = k.id ORDER BY b.first_seq LIMIT 1),
               (SELECT m.enqueued_at FROM keeper.loose_message m WHERE m.queue = k.id ORDER BY m.seq LIMIT 1))) * 1000)::bigint, 0),
             CASE WHEN k.is_ordered THEN 'ORDERED' ELSE 'UNORDERED' END, k.poison_policy
        FROM keeper.queue k
        LEFT JOIN (SELECT queue, sum(arrived) AS arrived, sum(gone) AS gone, sum(dead) AS dead
                     FROM keeper.tally GROUP BY queue) t ON t.queue = k.id
        LEFT JOIN (SELECT queue, count(*) FILTER (WHERE status = 3) AS parked, count(*) FILTER (WHERE status = 4) AS paused
                     FROM keeper.lane WHERE status IN (3, 4) GROUP BY queue) a ON a.queue = k.id
        LEFT JOIN (SELECT queue, count(*) AS held FROM keeper.lane
                    WHERE status IN (1, 2) AND status = 1 AND until > clock_timestamp() GROUP BY queue) h ON h.queue = k.id
      """; // tally_pkey, lane_aside, lane_until, message_new, bundle_pkey, loose_message_pkey

  private final Database database;

  PostgresNumbers(Database database) {
    this.database = database;
  }

  @Override
  public Map<String, Sample.Numbers> read() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(ALL);
              var rows = statement.executeQuery()) {
            var all = new HashMap<String, Sample.Numbers>();
            while (rows.next()) {
              long arrived = rows.getLong(2);
              long gone = rows.getLong(3);
              all.put(
                  rows.getString(1),
                  new Sample.Numbers(
                      arrived,
                      gone,
                      arrived - gone,
                      rows.getLong(4),
                      rows.getLong(5),
                      rows.getLong(6),
                      rows.getLong(7),
                      rows.getLong(8),
                      true,
                      rows.getString(9),
                      rows.getString(10)));
            }
            return all;
          }
        });
  }
}
