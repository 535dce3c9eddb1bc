package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.SharedBodies;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Forgets events after their time, a few at once. Every node does it; they do not disturb. */
final class ForgetOldEvents implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ForgetOldEvents.class);
  private static final Duration EVERY = Duration.ofMinutes(10);
  private static final int AT_ONCE = 500;
  private static final String FORGET =
      """
      WITH old AS MATERIALIZED (
             SELECT seq FROM keeper.github_event
              WHERE received_at < clock_timestamp() - make_interval(secs => ?)
              ORDER BY received_at LIMIT ? FOR UPDATE SKIP LOCKED),
           unrouted AS (DELETE FROM keeper.github_route r USING old WHERE r.event = old.seq)
      DELETE FROM keeper.github_event e USING old WHERE e.seq = old.seq
      RETURNING e.id
      """; // github_event_received, github_route_pkey

  private final Database database;
  private final Supplier<Duration> retention;
  private final TimeSource time;
  private TimeSource.@Nullable Timer timer;
  private boolean closed;

  ForgetOldEvents(Database database, Supplier<Duration> retention, TimeSource time) {
    this.database = database;
    this.retention = retention;
    this.time = time;
  }

  synchronized ForgetOldEvents start() {
    if (!closed) {
      timer =
          time.schedule(
              EVERY, () -> Thread.ofVirtual().name("forget-github-events").start(this::run));
    }
    return this;
  }

  private void run() {
    try {
      forget();
    } catch (KeeperException e) {
      log.warn("Old events could not be forgotten; it is tried again: {}", e.getMessage());
    } finally {
      start();
    }
  }

  /** Forgets all that are too old; tells how many. */
  int forget() {
    int all = 0;
    int gone;
    do {
      gone =
          database.inTransaction(
              connection -> forget(connection, retention.get().toSeconds(), AT_ONCE));
      all += gone;
    } while (gone == AT_ONCE && !isClosed());
    return all;
  }

  private static int forget(Connection connection, long seconds, int most) throws SQLException {
    var ids = new ArrayList<UUID>();
    try (var statement = connection.prepareStatement(FORGET)) {
      statement.setDouble(1, (double) seconds);
      statement.setInt(2, most);
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          ids.add(rows.getObject(1, UUID.class));
        }
      }
    }
    // A message that still waits, in a parked session for instance, keeps its body.
    SharedBodies.release(connection, ids);
    return ids.size();
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
  }
}
