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
 * The connections of a provider: those of the application's pool, or a small pool of its own over a
 * source that has none.
 *
 * <p>Nothing is set on a connection that outlives its use, so the application may share the pool.
 * All connections are in {@code READ COMMITTED} ({@link ReadCommittedSource}).
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

  /** Connections that transactional handlers leave to renewals, polls and settlements. */
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
   * A connection for a handler that keeps it as long as it runs. Handlers wait for each other, so
   * that a connection is left for the renewals of their leases.
   */
  public <T> T callForHandler(HandlerWork<T> work) throws Exception {
    forHandlers.acquire();
    try (var connection = pool.getConnection()) {
      return work.run(connection);
    } finally {
      forHandlers.release();
    }
  }

  /** As {@link #callForHandler}, for a handler whose transaction opens its own connection. */
  public <T> T callForHandler(Callable<T> work) throws Exception {
    forHandlers.acquire();
    try {
      return work.call();
    } finally {
      forHandlers.release();
    }
  }

  /** What a handler does on its connection. */
  @FunctionalInterface
  public interface HandlerWork<T> {
    T run(Connection connection) throws Exception;
  }

  /** For connections that are kept for long: not the pool this provider made. */
  public DataSource unpooled() {
    return unpooled;
  }

  /**
   * Runs one statement, which is a transaction by itself. After a deadlock or a serialisation
   * failure nothing has changed, and it is run again. A connection that is lost in it leaves the
   * outcome unknown.
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
        // Each try may wait for a database that stands still, so tries alone are no limit.
        boolean isLate = time.since(started).compareTo(LONGEST_LOOK) > 0;
        if (!SqlErrors.isConnectionLoss(e) || isLate || !REPEAT.allowsAfter(attempt)) {
          throw SqlErrors.translate(e);
        }
        pause(attempt);
      }
    }
  }

  /** Whether a connection that broke is worth another try. */
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
