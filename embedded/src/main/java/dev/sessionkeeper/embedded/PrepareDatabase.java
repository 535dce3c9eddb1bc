package dev.sessionkeeper.embedded;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * Creates the server's role and database if they are missing; a crash may have interrupted an
 * earlier attempt.
 *
 * <p>The role owns its database and has no other rights: as no superuser, it can neither run
 * programs nor read files of the host.
 */
final class PrepareDatabase {
  /** The superuser of the new database. Only this class and tests log in as it. */
  static final String ADMIN = "postgres";

  private final Endpoint endpoint;
  private final DataFolder folder;
  private String lastError = "no attempt was made";

  PrepareDatabase(Endpoint endpoint, DataFolder folder) {
    this.endpoint = endpoint;
    this.folder = folder;
  }

  /** Tries once to connect. Returns whether the database answered and is ready. */
  boolean succeeds() {
    try (var connection = connectAsAdmin(endpoint, folder)) {
      createRole(connection, folder.password());
      createDatabase(connection, EmbeddedPostgres.DATABASE, "template1");
      return true;
    } catch (SQLException e) {
      lastError = String.valueOf(e.getMessage());
      return false;
    }
  }

  String lastError() {
    return lastError;
  }

  static Connection connectAsAdmin(Endpoint endpoint, DataFolder folder) throws SQLException {
    var login = new Properties();
    login.setProperty("user", ADMIN);
    login.setProperty("password", folder.adminPassword());
    login.setProperty("loginTimeout", "5");
    return DriverManager.getConnection(endpoint.jdbcUrl("postgres"), login);
  }

  /** Creates a database that the server's role owns, unless it exists. */
  static void createDatabase(Connection admin, String name, String template) throws SQLException {
    if (!exists(admin, "SELECT 1 FROM pg_database WHERE datname = ?", name)) {
      execute(
          admin,
          "CREATE DATABASE " + name + " TEMPLATE " + template + " OWNER " + EmbeddedPostgres.USER);
      // Every role may connect to a new database by default.
      execute(admin, "REVOKE ALL ON DATABASE " + name + " FROM PUBLIC");
    }
  }

  private static void createRole(Connection admin, String password) throws SQLException {
    if (!exists(admin, "SELECT 1 FROM pg_roles WHERE rolname = ?", EmbeddedPostgres.USER)) {
      // The password is base64, so it contains no quote.
      execute(admin, "CREATE ROLE " + EmbeddedPostgres.USER + " LOGIN PASSWORD '" + password + "'");
    }
  }

  private static boolean exists(Connection connection, String query, String name)
      throws SQLException {
    try (var statement = connection.prepareStatement(query)) {
      statement.setString(1, name);
      try (var found = statement.executeQuery()) {
        return found.next();
      }
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
