package dev.sessionkeeper.postgres;

import dev.sessionkeeper.postgres.jdbc.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;

/**
 * Stores payloads that several messages share once, in any queues, on the connection of the caller.
 * Receivers see ordinary messages.
 *
 * <p>The caller that keeps a payload releases it later; until then the payload stays, even after
 * the last of its messages has gone.
 */
public final class SharedBodies {
  private static final String KEEP =
      "INSERT INTO keeper.shared_body (id, bytes) SELECT * FROM unnest(?, ?)";
  private static final String RELEASE = "SELECT keeper.release_bodies(?)";

  private SharedBodies() {}

  /** Stores payloads under ids of the caller's choice. */
  public static void keep(Connection connection, Map<UUID, byte[]> bodies) throws SQLException {
    if (bodies.isEmpty()) {
      return;
    }
    try (var statement = connection.prepareStatement(KEEP)) {
      statement.setArray(1, SqlArray.of(connection, "uuid", bodies.keySet().toArray(UUID[]::new)));
      statement.setArray(
          2, SqlArray.of(connection, "bytea", bodies.values().toArray(byte[][]::new)));
      statement.executeUpdate();
    }
  }

  /** Deletes payloads. A message that still waits gets a copy of its own. */
  public static void release(Connection connection, Collection<UUID> ids) throws SQLException {
    if (ids.isEmpty()) {
      return;
    }
    try (var statement = connection.prepareStatement(RELEASE)) {
      statement.setArray(1, SqlArray.of(connection, "uuid", ids.toArray(UUID[]::new)));
      statement.execute();
    }
  }
}
