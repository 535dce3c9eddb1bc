package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Counts and samples the messages that a replay of some events would send. */
final class CountRoutes {
  private static final String COUNT =
      """
      SELECT count(DISTINCT (r.event, r.bot))
        FROM keeper.github_event e JOIN keeper.github_route r ON r.event = e.seq
       WHERE r.bot = ANY (?) AND <conditions>
      """; // github_route_pkey (event, message_id)

  private static final String SAMPLES =
      """
      SELECT concat(e.type, '.' || NULLIF(e.action, ''), ' of ', COALESCE(e.repository, e.session), ', ',
                    to_char(e.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), ' UTC')
        FROM keeper.github_event e
       WHERE EXISTS (SELECT FROM keeper.github_route r WHERE r.event = e.seq AND r.bot = ANY (?)) AND <conditions>
       ORDER BY e.seq LIMIT ?
      """; // github_event_pkey, github_route_pkey

  private CountRoutes() {}

  /** Returns the oldest events of which a replay would send messages, in words. */
  static List<String> samples(
      Database database, Conditions conditions, Set<String> bots, int most) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(conditions.in(SAMPLES))) {
            statement.setArray(1, Columns.array(connection, "text", bots));
            statement.setInt(conditions.bind(statement, 2), most);
            try (var rows = statement.executeQuery()) {
              var samples = new ArrayList<String>();
              while (rows.next()) {
                samples.add(rows.getString(1));
              }
              return samples;
            }
          }
        });
  }

  static int count(Database database, Conditions conditions, Set<String> bots) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(conditions.in(COUNT))) {
            statement.setArray(1, Columns.array(connection, "text", bots));
            conditions.bind(statement, 2);
            try (var rows = statement.executeQuery()) {
              rows.next();
              return rows.getInt(1);
            }
          }
        });
  }
}
