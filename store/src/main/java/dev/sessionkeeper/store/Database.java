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
 * Runs units of work against a database, each on one connection and in one transaction, and speaks
 * the product's errors.
 *
 * <p>A deadlock or a serialisation failure has changed nothing, so the unit is run again, a bounded
 * number of times with jitter. A connection that is lost while COMMIT, or a statement that commits
 * by itself, is on its way leaves the outcome open. The database reports that as {@link
 * KeeperException.OutcomeUnknown} and never repeats it; a caller that can tell looks and decides
 * ({@link #untilKnown}).
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

  /** Work on a connection that gives nothing back. */
  @FunctionalInterface
  public interface Act {
    void run(Connection connection) throws SQLException;
  }

  /**
   * Runs the work in a transaction of its own and commits it. The work may run several times, each
   * time from the start and after a rollback, so it must change nothing outside of the database.
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

  /** As {@link #inTransaction}, for work without a result. */
  public void doInTransaction(Act act) {
    inTransaction(
        connection -> {
          act.run(connection);
          return true;
        });
  }

  /**
   * Runs one statement that is a transaction by itself. After a deadlock or a serialisation failure
   * nothing has changed, and it is run again.
   *
   * @throws KeeperException.Unavailable if there was no connection; nothing was changed
   * @throws KeeperException.OutcomeUnknown if the connection was lost during the statement
   */
  public <T> T inStatement(Work<T> work) {
    return repeated(() -> withOwn(decided("A statement", work)));
  }

  /**
   * Wraps a statement that commits by itself: a connection that is lost in it leaves the outcome
   * open, and the wrapped work says so.
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
   * Runs a call again whose outcome is unknown, where a repetition finds what the call before it
   * did. A database that does not answer the repetition leaves the outcome unknown.
   *
   * @param mostTries at least 1
   * @throws KeeperException.OutcomeUnknown if no try has told
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

  /** The same database for work that may take long: each statement has as much time as this. */
  public Database patient(Duration statement) {
    return new Database(new PatientSource(source, statement), retry);
  }

  /**
   * Reads, without a transaction around the statements. A statement that writes belongs into {@link
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

  /** A connection that cannot be closed makes no answer untrue. */
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
      // The server rolls back by itself when the connection is gone.
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
