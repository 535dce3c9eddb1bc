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
  private static final String DISK_FULL = "53100";
  private static final String READ_ONLY = "25006";
  private static final String IDLE_IN_TRANSACTION = "25P03";
  private static final String TRANSACTION_TIMEOUT = "25P04";

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
   * transaction, a transaction or statement that the database ended because it took too long.
   */
  public static boolean isTransient(SQLException e) {
    var state = state(e);
    return isConnectionLoss(e)
        || isWorthRepeating(e)
        || state.startsWith("53")
        || state.equals(LOCK_NOT_AVAILABLE)
        || state.equals(QUERY_CANCELED)
        || state.equals(READ_ONLY)
        || state.equals(IDLE_IN_TRANSACTION)
        || state.equals(TRANSACTION_TIMEOUT);
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
    if (state(e).equals(DISK_FULL)) {
      return KeeperException.Unavailable.because(
          "The database cannot write: " + said(e) + ". Free space on the disk of its data", e);
    }
    if (state(e).equals(READ_ONLY)) {
      return KeeperException.Unavailable.because(
          "The database takes no writes: " + said(e) + ". Connect to the primary server", e);
    }
    if (isTransient(e)) {
      return new KeeperException.Unavailable("The database", e);
    }
    if (isWrongIsolation(e)) {
      return new KeeperException.Misconfigured(said(e), e);
    }
    return new KeeperException.Rejected(
        "The database refused a statement (SQL state " + state(e) + ")", e);
  }

  /** The database's own words: the first line, without the severity before it. */
  private static String said(SQLException e) {
    var message = e.getMessage() == null ? "" : e.getMessage();
    return message.lines().findFirst().orElse("").replaceFirst("^[A-Z]+: ", "");
  }

  private static String state(SQLException e) {
    var state = e.getSQLState();
    return state == null ? "" : state;
  }
}
