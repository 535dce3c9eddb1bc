package dev.sessionkeeper.store;

import dev.sessionkeeper.KeeperException;
import java.sql.SQLException;
import java.sql.SQLTransientException;

/**
 * Interprets SQL states: which failures changed nothing, which broke the connection, and the error
 * for the caller.
 */
public final class SqlErrors {
  private static final String DEADLOCK = "40P01";
  private static final String SERIALIZATION_FAILURE = "40001";
  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String QUERY_CANCELED = "57014";
  private static final String UNIQUE_VIOLATION = "23505";
  private static final String DISK_FULL = "53100";
  private static final String READ_ONLY = "25006";
  private static final String UNDEFINED_FUNCTION = "42883";
  private static final String IDLE_IN_TRANSACTION = "25P03";
  private static final String TRANSACTION_TIMEOUT = "25P04";

  /** Raised by the product's SQL functions, with a message for people. */
  private static final String WRONG_ISOLATION = "SK003";

  private SqlErrors() {}

  /**
   * Returns whether the database rolled the transaction back, so that it can be repeated unchanged.
   */
  public static boolean isWorthRepeating(SQLException e) {
    var state = state(e);
    return state.equals(DEADLOCK) || state.equals(SERIALIZATION_FAILURE);
  }

  /** Returns whether the connection broke, or the server is shutting down or starting. */
  public static boolean isConnectionLoss(SQLException e) {
    var state = state(e);
    return state.startsWith("08") || state.startsWith("57P") || e instanceof SQLTransientException;
  }

  /**
   * Returns whether a later attempt can succeed: a broken connection, a lack of resources, a lock,
   * a deadlock, or a transaction or statement that exceeded its time limit.
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
        || state.equals(TRANSACTION_TIMEOUT)
        || isOfNewerRelease(e);
  }

  /**
   * Returns whether a function of the product is gone, because a newer release has dropped it while
   * this process runs. A process of that release can execute the call.
   */
  private static boolean isOfNewerRelease(SQLException e) {
    return state(e).equals(UNDEFINED_FUNCTION) && said(e).contains("keeper.");
  }

  /** Returns whether a lock was not available within its time limit. */
  public static boolean isLockTimeout(SQLException e) {
    return state(e).equals(LOCK_NOT_AVAILABLE);
  }

  /** Returns whether the transaction's isolation level does not suit a function of the product. */
  public static boolean isWrongIsolation(SQLException e) {
    return state(e).equals(WRONG_ISOLATION);
  }

  public static boolean isUniqueViolation(SQLException e) {
    return state(e).equals(UNIQUE_VIOLATION);
  }

  /** Returns the product's error for a database error. */
  public static KeeperException translate(SQLException e) {
    if (state(e).equals(DISK_FULL)) {
      return KeeperException.Unavailable.because(
          "The database cannot write: " + said(e) + ". Free space on the disk of its data", e);
    }
    if (state(e).equals(READ_ONLY)) {
      return KeeperException.Unavailable.because(
          "The database takes no writes: " + said(e) + ". Connect to the primary server", e);
    }
    if (isOfNewerRelease(e)) {
      return KeeperException.Unavailable.because(
          "A newer release has changed the database: "
              + said(e)
              + ". Replace this process by one of that release",
          e);
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

  /** Returns the first line of the database's message, without its severity. */
  private static String said(SQLException e) {
    var message = e.getMessage() == null ? "" : e.getMessage();
    return message.lines().findFirst().orElse("").replaceFirst("^[A-Z]+: ", "");
  }

  private static String state(SQLException e) {
    var state = e.getSQLState();
    return state == null ? "" : state;
  }
}
