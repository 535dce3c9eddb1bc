package dev.sessionkeeper.postgres.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.SqlErrors;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;

/**
 * The connections of a provider: those of the application's pool, or of a small pool over a source
 * that has none.
 *
 * <p>Nothing is set on a connection beyond its use, so the application may share the pool. All
 * connections use {@code READ COMMITTED} ({@link ReadCommittedSource}).
 */
public final class Connections implements AutoCloseable {
  /**
   * Repeats for about a second. A pool does not test connections that were used half a second ago,
   * so after a failure of all connections a shorter time may meet only broken ones.
   */
  private static final RetryPolicy REPEAT =
      new RetryPolicy(12, Duration.ofMillis(2), 2, Duration.ofMillis(200), 0.5);

  private static final Duration LONGEST_LOOK = Duration.ofSeconds(2);

  private final DataSource unpooled;
  private final ReadCommittedSource pool;
  private final Runnable afterClose;
  private final Semaphore forHandlers;

  private Connections(DataSource unpooled, DataSource pool, int poolSize, Runnable afterClose) {
    this.unpooled = unpooled;
    this.pool = new ReadCommittedSource(pool);
    this.afterClose = afterClose;
    // A pool of one: handlers must have it, and nothing is left to reserve.
    this.forHandlers = new Semaphore(Math.max(1, poolSize - reserve(poolSize)), true);
  }

  /**
   * Returns how many connections transactional handlers leave to renewals, polls and settlements.
   */
  private static int reserve(int poolSize) {
    return poolSize < 4 ? 1 : 2;
  }

  public static Connections over(DataSource source, int most) {
    if (source instanceof HikariDataSource hikari) {
      return new Connections(source, source, hikari.getMaximumPoolSize(), () -> {});
    }
    var config = new HikariConfig();
    config.setDataSource(source);
    config.setPoolName("keeper-queues");
    config.setMaximumPoolSize(most);
    config.setMinimumIdle(0);
    config.setIdleTimeout(Duration.ofMinutes(1).toMillis());
    config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
    config.setInitializationFailTimeout(-1);
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    var own = new HikariDataSource(config);
    return new Connections(source, own, most, own::close);
  }

  public DataSource source() {
    return pool;
  }

  /**
   * Runs work of a handler, which keeps its connection until it returns. Handlers wait for each
   * other, so that a connection remains for renewals of their leases.
   */
  public <T> T callForHandler(HandlerWork<T> work) throws Exception {
    forHandlers.acquire();
    try (var connection = pool.getConnection()) {
      return work.run(connection);
    } finally {
      forHandlers.release();
    }
  }

  /**
   * Runs work as {@link #callForHandler} does, for a handler whose transaction opens its own
   * connection.
   */
  public <T> T callForHandler(Callable<T> work) throws Exception {
    forHandlers.acquire();
    try {
      return work.call();
    } finally {
      forHandlers.release();
    }
  }

  /** The work of a handler on its connection. */
  @FunctionalInterface
  public interface HandlerWork<T> {
    T run(Connection connection) throws Exception;
  }

  /**
   * Returns the source for connections that are kept for long, outside a pool that this provider
   * created.
   */
  public DataSource unpooled() {
    return unpooled;
  }

  /**
   * Runs one statement, which is a transaction by itself. Repeats the statement after a deadlock or
   * a serialisation failure, because these change nothing. If the connection breaks, the outcome is
   * unknown.
   */
  public <T> T call(Database.Work<T> work) {
    try {
      return tryCall(Database.decided("The call", work));
    } catch (SQLException e) {
      throw SqlErrors.translate(e);
    }
  }

  /** As {@link #call}, for callers that need the driver's error. */
  public <T> T tryCall(Database.Work<T> work) throws SQLException {
    for (int attempt = 1; ; attempt++) {
      try (var connection = pool.getConnection()) {
        return work.run(connection);
      } catch (SQLException e) {
        if (!SqlErrors.isWorthRepeating(e) || !REPEAT.allowsAfter(attempt)) {
          throw e;
        }
        pause(attempt);
      }
    }
  }

  /**
   * As {@link #call}, for statements that only read: they run again after a lost connection too.
   */
  public <T> T look(Database.Work<T> work) {
    var time = TimeSource.system();
    long started = time.nanoTime();
    for (int attempt = 1; ; attempt++) {
      try {
        return tryCall(work);
      } catch (SQLException e) {
        // Each attempt may wait for a frozen database, so a count of attempts is no limit.
        boolean isLate = time.since(started).compareTo(LONGEST_LOOK) > 0;
        if (!SqlErrors.isConnectionLoss(e) || isLate || !REPEAT.allowsAfter(attempt)) {
          throw SqlErrors.translate(e);
        }
        pause(attempt);
      }
    }
  }

  /** Returns whether another attempt is allowed after a broken connection. */
  public static boolean mayRepeatAfter(int attempt) {
    return REPEAT.allowsAfter(attempt);
  }

  public static void pause(int attempt) {
    try {
      Thread.sleep(REPEAT.delayAfter(attempt, RandomGenerator.getDefault()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KeeperException.Unavailable("The database (interrupted while waiting for it)", e);
    }
  }

  @Override
  public void close() {
    afterClose.run();
  }
}
