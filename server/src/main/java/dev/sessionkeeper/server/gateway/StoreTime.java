package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The database's clock. Receivers check the time of a signed push, so a node's wrong clock must not
 * set it.
 *
 * <p>A background task reads it once a minute. In between, and while the database is away,
 * monotonic time is added. Safe for any thread.
 */
final class StoreTime implements TimeSource {
  private static final Logger log = LoggerFactory.getLogger(StoreTime.class);
  private static final Duration EVERY = Duration.ofMinutes(1);

  private final Database database;
  private final TimeSource node;
  private final AtomicBoolean reading = new AtomicBoolean();
  private volatile Seen last;

  StoreTime(Database database, TimeSource node) {
    this.database = database;
    this.node = node;
    this.last = new Seen(node.instant(), node.nanoTime());
    read();
  }

  @Override
  public Instant instant() {
    var seen = last;
    var age = node.since(seen.nanos());
    if (age.compareTo(EVERY) > 0 && reading.compareAndSet(false, true)) {
      Thread.ofVirtual().name("store-time").start(this::read);
    }
    return seen.instant().plus(age);
  }

  private void read() {
    long asked = node.nanoTime();
    try {
      last = new Seen(databaseNow(), asked);
    } catch (KeeperException e) {
      log.debug("The database's clock could not be read; the last reading is continued", e);
    } finally {
      reading.set(false);
    }
  }

  private Instant databaseNow() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery("SELECT clock_timestamp()")) {
            rows.next();
            return rows.getObject(1, OffsetDateTime.class).toInstant();
          }
        });
  }

  @Override
  public long nanoTime() {
    return node.nanoTime();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return node.schedule(delay, task);
  }

  /** A moment of the database's clock and the same moment of monotonic time. */
  private record Seen(Instant instant, long nanos) {}
}
