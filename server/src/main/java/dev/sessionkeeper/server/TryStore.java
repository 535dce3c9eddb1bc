package dev.sessionkeeper.server;

import dev.sessionkeeper.server.config.Secret;
import dev.sessionkeeper.server.config.StoreConfig;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Properties;

/** Tries to connect to the database of a configuration, and changes nothing in it. */
public final class TryStore {
  private static final String PATIENCE_SECONDS = "5";

  private TryStore() {}

  /**
   * Returns why there is no connection, and what to do; empty if there is one or none is needed.
   */
  public static Optional<String> trouble(StoreConfig store) {
    if (store.url().equals("embedded") || store.url().equals("memory")) {
      return Optional.empty();
    }
    var access = new Properties();
    access.setProperty("connectTimeout", PATIENCE_SECONDS);
    access.setProperty("loginTimeout", PATIENCE_SECONDS);
    store.user().ifPresent(user -> access.setProperty("user", user));
    store.password().map(Secret::reveal).ifPresent(word -> access.setProperty("password", word));
    try (var connection = DriverManager.getConnection(store.url(), access)) {
      return connection.isValid(5)
          ? Optional.empty()
          : Optional.of("The database at " + ExplainDatabase.hosts(store.url()) + " is not usable");
    } catch (SQLException e) {
      return Optional.of(ExplainDatabase.connecting(store.url(), e));
    }
  }
}
