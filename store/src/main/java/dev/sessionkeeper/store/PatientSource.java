package dev.sessionkeeper.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data source for statements that may take long, such as migrations: raises the time limits of
 * the database and of the driver, and restores them when the connection is returned.
 */
final class PatientSource extends ForwardingSource {
  private static final Logger log = LoggerFactory.getLogger(PatientSource.class);

  /**
   * The time by which the database's limit is shorter than the driver's, so that the database ends
   * a statement first.
   */
  private static final Duration MARGIN = Duration.ofSeconds(5);

  // The idle limit as well: a migration holds its lock in a transaction that is idle meanwhile.
  private static final String READ =
      """
      SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')
      """;
  private static final String SET =
      """
      SELECT set_config('statement_timeout', ?, false),
             set_config('idle_in_transaction_session_timeout', ?, false)
      """;

  private final Duration statement;

  private record Limits(String statement, String idle) {}

  PatientSource(DataSource source, Duration statement) {
    super(source);
    this.statement = statement;
  }

  @Override
  protected Connection prepared(Connection own) throws SQLException {
    try {
      int network = own.getNetworkTimeout();
      var before = read(own);
      own.setNetworkTimeout(Runnable::run, Math.toIntExact(statement.plus(MARGIN).toMillis()));
      var millis = Long.toString(statement.toMillis());
      set(own, new Limits(millis, millis));
      return (Connection)
          Proxy.newProxyInstance(
              PatientSource.class.getClassLoader(),
              new Class<?>[] {Connection.class},
              (proxy, method, args) -> {
                if (method.getName().equals("close")) {
                  restore(own, before, network);
                }
                try {
                  return method.invoke(own, args);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    } catch (SQLException | RuntimeException e) {
      own.close();
      throw e;
    }
  }

  private static void restore(Connection own, Limits before, int network) {
    try {
      if (!own.isClosed()) {
        if (!own.getAutoCommit()) {
          // Otherwise the limit would be set in a transaction that the pool rolls back.
          own.rollback();
          own.setAutoCommit(true);
        }
        set(own, before);
        own.setNetworkTimeout(Runnable::run, network);
      }
    } catch (SQLException e) {
      log.debug("A broken connection goes back to its pool, which discards it", e);
    }
  }

  private static Limits read(Connection connection) throws SQLException {
    try (var query = connection.createStatement();
        var rows = query.executeQuery(READ)) {
      rows.next();
      return new Limits(rows.getString(1), rows.getString(2));
    }
  }

  private static void set(Connection connection, Limits limits) throws SQLException {
    try (var query = connection.prepareStatement(SET)) {
      query.setString(1, limits.statement());
      query.setString(2, limits.idle());
      query.execute();
    }
  }
}
