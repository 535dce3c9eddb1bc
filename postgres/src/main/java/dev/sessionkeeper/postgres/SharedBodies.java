package dev.sessionkeeper.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;

/**
 * Keeps bodies once that belong to several messages, of whatever queues, on the connection of the
 * caller. Receivers notice nothing of it.
 *
 * <p>Whoever keeps a body releases it some day; until then it stays, also when the last of its
 * messages is gone.
 */
public final class SharedBodies {
  private static final String KEEP =
      "INSERT INTO keeper.shared_body (id, bytes) SELECT * FROM unnest(?, ?)";
  private static final String RELEASE = "SELECT keeper.release_bodies(?)";

  private SharedBodies() {}

  /** Keeps bodies under ids of the caller's choice. */
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

  /** Forgets bodies. A message that still waits for its receiver gets a copy of its own. */
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
