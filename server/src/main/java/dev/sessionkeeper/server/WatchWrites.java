package dev.sessionkeeper.server;

import dev.sessionkeeper.store.SqlErrors;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a row every few seconds, so that readiness knows whether the database takes writes: its
 * disk may be full, or it may be a standby. Requests never wait for it.
 *
 * <p>Truncating first makes PostgreSQL allocate a new file for the row. An update in place would
 * succeed on a full disk.
 */
final class WatchWrites implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WatchWrites.class);
  private static final Duration EVERY = Duration.ofSeconds(5);

  private static final String PROBE =
      """
      SET LOCAL lock_timeout = '500ms';
      SET LOCAL statement_timeout = '5s';
      TRUNCATE keeper.write_probe;
      INSERT INTO keeper.write_probe (at) VALUES (clock_timestamp());
      """;

  private final DataSource source;
  private final TimeSource time;
  private final AtomicBoolean isWriting = new AtomicBoolean();
  private volatile Optional<String> trouble = Optional.empty();
  private volatile boolean closed;

  WatchWrites(DataSource source, TimeSource time) {
    this.source = source;
    this.time = time;
    writeRegularly();
  }

  /** Returns why the last write failed; empty if it succeeded. */
  Optional<String> trouble() {
    return trouble;
  }

  private void writeRegularly() {
    time.schedule(
        EVERY,
        () -> {
          if (!closed) {
            if (isWriting.compareAndSet(false, true)) {
              Thread.ofVirtual().name("watch-writes").start(this::write);
            }
            writeRegularly();
          }
        });
  }

  private void write() {
    try (var connection = source.getConnection()) {
      write(connection);
      tell(Optional.empty());
    } catch (SQLException e) {
      // Another server holds the row's lock, or there is no connection, which readiness checks
      // itself.
      if (!SqlErrors.isLockTimeout(e) && !SqlErrors.isConnectionLoss(e)) {
        tell(Optional.of(ExplainDatabase.writing(e)));
      }
    } finally {
      isWriting.set(false);
    }
  }

  private static void write(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (var statement = connection.createStatement()) {
      statement.execute(PROBE);
      connection.commit();
    } catch (SQLException e) {
      rollBack(connection, e);
      throw e;
    }
    connection.setAutoCommit(true);
  }

  /** The database rolls a broken connection back, and the pool discards it. */
  private static void rollBack(Connection connection, SQLException failure) {
    try {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  private void tell(Optional<String> now) {
    if (now.isPresent() && trouble.isEmpty()) {
      log.error("Not ready: {}", now.get());
    }
    if (now.isEmpty() && trouble.isPresent()) {
      log.info("The database takes writes again");
    }
    trouble = now;
  }

  @Override
  public void close() {
    closed = true;
  }
}
