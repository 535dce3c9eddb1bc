package dev.sessionkeeper.server;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Notices that a newer release has dropped functions that this server calls. Without them calls
 * would fail one by one, so the server reports that it is not ready, and a load balancer sends it
 * no more requests.
 *
 * <p>I1: the first check comes after the server's own migrations, which also drop functions.
 */
final class WatchFunctions {
  private static final String ALL =
      """
      SELECT COALESCE(array_agg(
               format('keeper.%I(%s)', proname, oidvectortypes(proargtypes))), '{}')
        FROM pg_proc WHERE pronamespace = 'keeper'::regnamespace
      """;

  private static final String FIRST_DROPPED =
      "SELECT name FROM unnest(?::text[]) name WHERE to_regprocedure(name) IS NULL LIMIT 1";

  private volatile String @Nullable [] known;

  /** Checks that the functions exist; returns why the server cannot continue if one is missing. */
  Optional<String> trouble(Connection connection) throws SQLException {
    var functions = known;
    if (functions == null) {
      known = all(connection);
      return Optional.empty();
    }
    return dropped(connection, functions)
        .map(
            name ->
                "A newer release has dropped the function "
                    + name
                    + ". Replace this server by a server of that release.");
  }

  private static String[] all(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(ALL)) {
      rows.next();
      return (String[]) rows.getArray(1).getArray();
    }
  }

  private static Optional<String> dropped(Connection connection, String[] functions)
      throws SQLException {
    Array names = connection.createArrayOf("text", functions);
    try (PreparedStatement statement = connection.prepareStatement(FIRST_DROPPED)) {
      statement.setArray(1, names);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(rows.getString(1)) : Optional.empty();
      }
    } finally {
      names.free();
    }
  }
}
