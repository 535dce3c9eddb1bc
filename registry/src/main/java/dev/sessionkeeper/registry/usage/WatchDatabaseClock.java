package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compares how far the database's clock moved with the elapsed monotonic time of this node.
 *
 * <p>A clock that moved further has jumped. A jump is invisible while no node compares: after an
 * outage the comparison begins anew, and the time of the outage is metered. The node's wall clock
 * is not used, because the same mistake may have changed both clocks.
 *
 * <p>Threads: any, one at a time.
 */
final class WatchDatabaseClock {
  private static final String READ = "SELECT keeper.now()";

  private final TimeSource time;
  private final Duration tolerance;
  private @Nullable Sight last;

  WatchDatabaseClock(TimeSource time, Duration tolerance) {
    this.time = time;
    this.tolerance = tolerance;
  }

  private record Sight(Instant database, long nanos) {}

  /** Reads the clock. Returns by how much it jumped since the last reading, if it did. */
  synchronized Optional<Duration> look(Connection connection) throws SQLException {
    long before = time.nanoTime();
    var now = read(connection);
    long after = time.nanoTime();
    var previous = last;
    // The read happened before `after`; the next comparison must not assume more elapsed time than
    // there was.
    last = new Sight(now, before);
    if (previous == null) {
      return Optional.empty();
    }
    var passed = Duration.ofNanos(after - previous.nanos());
    var jump = Duration.between(previous.database(), now).minus(passed);
    if (jump.compareTo(tolerance) <= 0) {
      return Optional.empty();
    }
    return Optional.of(jump);
  }

  /** Begins the comparison anew: the clock may have been set while no node could compare. */
  synchronized void lostSight() {
    last = null;
  }

  private static Instant read(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(READ)) {
      rows.next();
      return rows.getObject(1, OffsetDateTime.class).toInstant();
    }
  }
}
