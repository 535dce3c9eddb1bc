package dev.sessionkeeper.store;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Retry;
import dev.sessionkeeper.RetryPolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs units of work against a database, each on one connection and in one transaction, and
 * translates its errors.
 *
 * <p>A deadlock or a serialisation failure has changed nothing, so the unit is repeated, a bounded
 * number of times with jitter. If the connection breaks during COMMIT, or during a statement that
 * commits by itself, the outcome is unknown. The database class reports that as {@link
 * KeeperException.OutcomeUnknown} and never repeats the unit; a caller that can find out the
 * outcome decides ({@link #untilKnown}).
 *
 * <p>A process that freezes in the middle of a transaction keeps its locks until the database ends
 * the transaction: the connections of {@code source} should have {@code
 * idle_in_transaction_session_timeout}, {@code lock_timeout} and {@code statement_timeout}.
 */
public final class Database {
  private static final Logger log = LoggerFactory.getLogger(Database.class);

  private final DataSource source;
  private final RetryPolicy retry;

  private Database(DataSource source, RetryPolicy retry) {
    this.source = source;
    this.retry = retry;
  }

  public static Database of(DataSource source) {
    return new Database(source, RetryPolicy.forStore(6));
  }

  public DataSource source() {
    return source;
  }

  /** Work on a connection. */
  @FunctionalInterface
  public interface Work<T> {
    T run(Connection connection) throws SQLException;
  }

  /** Work on a connection without a result. */
  @FunctionalInterface
  public interface Act {
    void run(Connection connection) throws SQLException;
  }

  /**
   * Runs the work in a transaction of its own and commits it. The work may run several times, each
   * time after a rollback, so it must change nothing outside the database.
   *
   * @throws KeeperException.Unavailable if the database did not answer; nothing was changed
   * @throws KeeperException.OutcomeUnknown if the connection was lost during COMMIT
   */
  public <T> T inTransaction(Work<T> work) {
    return repeated(() -> once(work));
  }

  private <T> T repeated(Retry.Call<T, SQLException> call) {
    try {
      return Retry.call(retry, Database::isWorthRepeating, call);
    } catch (SQLException e) {
      throw SqlErrors.translate(e);
    }
  }

  private static boolean isWorthRepeating(Exception failure) {
    return failure instanceof SQLException e && SqlErrors.isWorthRepeating(e);
  }

  /** Runs work without a result as {@link #inTransaction} does. */
  public void doInTransaction(Act act) {
    inTransaction(
        connection -> {
          act.run(connection);
          return true;
        });
  }

  /**
   * Runs one statement that is a transaction by itself, and repeats it after a deadlock or a
   * serialisation failure, which change nothing.
   *
   * @throws KeeperException.Unavailable if there was no connection; nothing was changed
   * @throws KeeperException.OutcomeUnknown if the connection was lost during the statement
   */
  public <T> T inStatement(Work<T> work) {
    return repeated(() -> withOwn(decided("A statement", work)));
  }

  /**
   * Wraps a statement that commits by itself: if the connection breaks during the statement, the
   * wrapped work throws OutcomeUnknown.
   *
   * @param what the subject of the message
   */
  public static <T> Work<T> decided(String what, Work<T> work) {
    return connection -> {
      try {
        return work.run(connection);
      } catch (SQLException e) {
        if (SqlErrors.isConnectionLoss(e)) {
          throw new KeeperException.OutcomeUnknown(what, e);
        }
        throw e;
      }
    };
  }

  /**
   * Repeats a call whose outcome is unknown, if a repetition finds the effect of the first call. If
   * the database does not answer the repetition, the outcome stays unknown.
   *
   * @param mostTries at least 1
   * @throws KeeperException.OutcomeUnknown if no attempt could tell
   */
  public static <T> T untilKnown(int mostTries, Supplier<T> call) {
    KeeperException.OutcomeUnknown unknown = null;
    for (int attempt = 1; ; attempt++) {
      try {
        return call.get();
      } catch (KeeperException.OutcomeUnknown e) {
        unknown = unknown == null ? e : unknown;
        if (attempt >= mostTries) {
          throw unknown;
        }
      } catch (KeeperException.Unavailable e) {
        if (unknown == null) {
          throw e;
        }
        unknown.addSuppressed(e);
        throw unknown;
      }
    }
  }

  /** Returns the same database for slow work, with this time limit for each statement. */
  public Database patient(Duration statement) {
    return new Database(new PatientSource(source, statement), retry);
  }

  /**
   * Reads, without a transaction around the statements. For a statement that writes, use {@link
   * #inStatement}.
   */
  public <T> T withConnection(Work<T> work) {
    try {
      return withOwn(work);
    } catch (SQLException e) {
      throw SqlErrors.translate(e);
    }
  }

  private <T> T once(Work<T> work) throws SQLException {
    return withOwn(
        connection -> {
          connection.setAutoCommit(false);
          try {
            var result = work.run(connection);
            commit(connection);
            return result;
          } catch (SQLException | RuntimeException e) {
            rollBack(connection, e);
            throw e;
          } finally {
            restoreAutoCommit(connection);
          }
        });
  }

  /** Runs work on a connection and closes it; a failure to close does not change the result. */
  private <T> T withOwn(Work<T> work) throws SQLException {
    var connection = source.getConnection();
    try {
      return work.run(connection);
    } finally {
      try {
        connection.close();
      } catch (SQLException e) {
        log.debug("A broken connection could not be closed", e);
      }
    }
  }

  private static void commit(Connection connection) throws SQLException {
    try {
      connection.commit();
    } catch (SQLException e) {
      if (SqlErrors.isConnectionLoss(e)) {
        throw new KeeperException.OutcomeUnknown("A transaction", e);
      }
      throw e;
    }
  }

  private static void rollBack(Connection connection, Exception failure) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      // The database rolls back by itself when the connection is gone.
      failure.addSuppressed(e);
    }
  }

  private static void restoreAutoCommit(Connection connection) {
    try {
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      log.debug("A broken connection goes back to its pool, which discards it", e);
    }
  }
}
