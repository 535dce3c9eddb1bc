package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds metering while the database's clock cannot be trusted. The hold is a row, so all nodes obey
 * it.
 */
final class HoldMetering {
  private static final Logger log = LoggerFactory.getLogger(HoldMetering.class);

  private static final String HOLD =
      """
      INSERT INTO keeper.metering_hold (held_at, jump_micros, reason)
      VALUES (keeper.now(), ?, ?)
      ON CONFLICT ((true)) WHERE released_at IS NULL DO NOTHING
      """;

  private static final String OPEN =
      """
      SELECT id, held_at, jump_micros, reason
        FROM keeper.metering_hold
       WHERE released_at IS NULL
      """; // metering_hold_open

  private static final String RELEASE =
      """
      UPDATE keeper.metering_hold SET released_at = keeper.now(), released_by = ?
       WHERE released_at IS NULL
      """; // A stop of metering: its cause and its beginning.

  /** A stop of metering: its cause and its beginning. */
  record Hold(long id, Instant since, Duration jump, String reason) {}

  /** Thrown inside a chunk's transaction, which is then rolled back. */
  static final class Holding extends RuntimeException {
    private static final long serialVersionUID = 1;

    Holding(String message) {
      super(message);
    }
  }

  private final Database database;
  private final WatchDatabaseClock clock;
  private final Consumer<UsageEvent> events;

  HoldMetering(Database database, WatchDatabaseClock clock, Consumer<UsageEvent> events) {
    this.database = database;
    this.clock = clock;
    this.events = events;
  }

  /** Reads the clock, and begins a hold after a jump. */
  void look() {
    try {
      database.withConnection(clock::look).ifPresent(this::hold);
    } catch (RuntimeException e) {
      clock.lostSight();
      throw e;
    }
  }

  private void hold(Duration jump) {
    var reason = "The database's clock went " + jump + " further than time did";
    boolean isNew =
        database.inTransaction(
            connection -> {
              try (var statement = connection.prepareStatement(HOLD)) {
                statement.setLong(1, jump.toNanos() / 1000);
                statement.setString(2, reason);
                return statement.executeUpdate() == 1;
              }
            });
    if (isNew) {
      log.error("Metering is held: {}. Nothing is billed until a person releases it", reason);
      events.accept(new UsageEvent.Held(jump, reason));
    }
  }

  /** Refuses to continue a chunk while there is a hold. */
  void check(Connection connection) throws SQLException {
    var hold = open(connection);
    if (hold.isPresent()) {
      throw new Holding(hold.get().reason());
    }
  }

  Optional<Hold> open() {
    return database.withConnection(HoldMetering::open);
  }

  private static Optional<Hold> open(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(OPEN)) {
      return rows.next()
          ? Optional.of(
              new Hold(
                  rows.getLong(1),
                  rows.getObject(2, OffsetDateTime.class).toInstant(),
                  Duration.ofNanos(rows.getLong(3) * 1000),
                  rows.getString(4)))
          : Optional.empty();
    }
  }

  boolean release(Actor actor) {
    boolean released =
        database.inTransaction(
            connection -> {
              try (var statement = connection.prepareStatement(RELEASE)) {
                statement.setString(1, actor.name());
                if (statement.executeUpdate() == 0) {
                  return false;
                }
              }
              AuditLog.write(
                  connection, new AuditLog.Entry(actor, "usage.release", "metering", "", ""));
              return true;
            });
    if (released) {
      events.accept(new UsageEvent.Released(actor.name()));
    }
    return released;
  }
}
