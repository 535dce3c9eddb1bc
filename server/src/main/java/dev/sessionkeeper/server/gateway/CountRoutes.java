package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.util.Set;

/** Counts the messages that a replay of some events would send. */
final class CountRoutes {
  private static final String COUNT =
      """
      SELECT count(DISTINCT (r.event, r.bot))
        FROM keeper.github_event e JOIN keeper.github_route r ON r.event = e.seq
       WHERE r.bot = ANY (?) AND <conditions>
      """; // github_route_pkey (event, message_id)

  private CountRoutes() {}

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
