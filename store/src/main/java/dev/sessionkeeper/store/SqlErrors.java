package dev.sessionkeeper.store;

import dev.sessionkeeper.KeeperException;
import java.sql.SQLException;
import java.sql.SQLTransientException;

/**
 * Reads SQL states: which failures have changed nothing, which are the connection's, and what the
 * caller is told.
 */
public final class SqlErrors {
  private static final String DEADLOCK = "40P01";
  private static final String SERIALIZATION_FAILURE = "40001";
  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String QUERY_CANCELED = "57014";
  private static final String UNIQUE_VIOLATION = "23505";

  /** Our own functions raise it, with a message for people. */
  private static final String WRONG_ISOLATION = "SK003";

  private SqlErrors() {}

  /** The transaction was rolled back by the database and may be run again as it is. */
  public static boolean isWorthRepeating(SQLException e) {
    var state = state(e);
    return state.equals(DEADLOCK) || state.equals(SERIALIZATION_FAILURE);
  }

  /** The connection broke, or the server is going down or coming up. */
  public static boolean isConnectionLoss(SQLException e) {
    var state = state(e);
    return state.startsWith("08") || state.startsWith("57P") || e instanceof SQLTransientException;
  }

  /**
   * The failure passes by itself: the connection's, a lack of resources, a lock, a repeated
   * transaction.
   */
  public static boolean isTransient(SQLException e) {
    var state = state(e);
    return isConnectionLoss(e)
        || isWorthRepeating(e)
        || state.startsWith("53")
        || state.equals(LOCK_NOT_AVAILABLE)
        || state.equals(QUERY_CANCELED);
  }

  /** A lock did not come in the time that was set for it. */
  public static boolean isLockTimeout(SQLException e) {
    return state(e).equals(LOCK_NOT_AVAILABLE);
  }

  /** The transaction has an isolation level in which a function of ours would go wrong. */
  public static boolean isWrongIsolation(SQLException e) {
    return state(e).equals(WRONG_ISOLATION);
  }

  public static boolean isUniqueViolation(SQLException e) {
    return state(e).equals(UNIQUE_VIOLATION);
  }

  /** The product's error for a database's error. */
  public static KeeperException translate(SQLException e) {
    if (isTransient(e)) {
      return new KeeperException.Unavailable("The database", e);
    }
    if (isWrongIsolation(e)) {
      return new KeeperException.Misconfigured(firstLine(e), e);
    }
    return new KeeperException.Rejected(
        "The database refused a statement (SQL state " + state(e) + ")", e);
  }

  private static String firstLine(SQLException e) {
    return String.valueOf(e.getMessage())
        .lines()
        .findFirst()
        .orElse("")
        .replaceFirst("^ERROR: ", "");
  }

  private static String state(SQLException e) {
    var state = e.getSQLState();
    return state == null ? "" : state;
  }
}
