package dev.sessionkeeper.store;

import java.sql.Connection;
import java.sql.SQLException;

/** Writes down who did what, on the connection of the change: both are there or neither is. */
public final class AuditLog {
  private static final String WRITE =
      "INSERT INTO keeper.audit (actor, action, target, reason, details) VALUES (?, ?, ?, ?, ?)";

  private AuditLog() {}

  /**
   * One act of a person or of the product.
   *
   * @param actor the name of the credential, {@code anonymous} on an open server, or the part of
   *     the product
   * @param target what was acted on, such as a queue and a session
   */
  public record Entry(String actor, String action, String target, String reason, String details) {}

  public static void write(Connection connection, Entry entry) throws SQLException {
    try (var statement = connection.prepareStatement(WRITE)) {
      statement.setString(1, entry.actor());
      statement.setString(2, entry.action());
      statement.setString(3, entry.target());
      statement.setString(4, entry.reason());
      statement.setString(5, entry.details());
      statement.executeUpdate();
    }
  }
}
