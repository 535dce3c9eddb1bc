package dev.sessionkeeper.jobs;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * The SQL statements that register a job, take it and fence its work, on the caller's connection.
 */
final class TakeJob {
  private static final String ACQUIRE =
      """
      WITH due AS (
        SELECT name, owner
          FROM keeper.job
         WHERE name = ?
           AND (owner IS NULL OR lease_until < keeper.now())
           AND (requested_at IS NOT NULL
                OR (NOT paused AND next_run_at <= keeper.now()
                    AND (not_before IS NULL OR not_before <= keeper.now())))
           FOR UPDATE SKIP LOCKED)
      UPDATE keeper.job j
         SET owner = ?, epoch = j.epoch + 1, started_at = keeper.now(),
             lease_millis = ?, lease_until = keeper.now() + ? * interval '1 millisecond',
             attempts = j.attempts + CASE WHEN due.owner IS NULL THEN 0 ELSE 1 END
        FROM due
       WHERE j.name = due.name
      RETURNING j.epoch, j.lease_until, j.next_run_at, j.attempts, due.owner AS former_owner,
                keeper.now() AS now
      """; // job_pkey (name)

  private static final String REGISTER =
      """
      INSERT INTO keeper.job AS j (name, interval_micros, misfire, next_run_at)
      VALUES (?, ?, ?, to_timestamp(0) + ceil(extract(epoch FROM keeper.now()) * 1000000 / ?) * ?
                       * interval '1 microsecond')
      ON CONFLICT (name) DO UPDATE
         SET interval_micros = EXCLUDED.interval_micros, misfire = EXCLUDED.misfire,
             next_run_at = CASE WHEN j.interval_micros = EXCLUDED.interval_micros
                                THEN j.next_run_at ELSE EXCLUDED.next_run_at END
       WHERE (j.interval_micros, j.misfire) <> (EXCLUDED.interval_micros, EXCLUDED.misfire)
      """;

  // A KEY SHARE lock suffices to block a take-over, which changes a key column, and does not block
  // renewals. If the host vanishes, the database ends the idle transaction after a third of the
  // lease.
  private static final String FENCE =
      """
      SELECT set_config('idle_in_transaction_session_timeout', ?, true)
        FROM keeper.job
       WHERE name = ? AND owner = ? AND epoch = ?
         FOR KEY SHARE
      """; // job_pkey (name)

  private TakeJob() {}

  /** The row of a job just after it was taken. */
  record Taken(
      long epoch,
      Instant until,
      Instant nextRunAt,
      int attempts,
      Optional<String> formerOwner,
      Instant now) {}

  /** Takes the lease if the job is due and free, or its owner's lease has expired. */
  static Optional<Taken> acquire(Connection connection, String job, String owner, Duration lease)
      throws SQLException {
    try (var statement = connection.prepareStatement(ACQUIRE)) {
      statement.setString(1, job);
      statement.setString(2, owner);
      statement.setLong(3, lease.toMillis());
      statement.setLong(4, lease.toMillis());
      try (var rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(taken(rows)) : Optional.empty();
      }
    }
  }

  private static Taken taken(ResultSet rows) throws SQLException {
    return new Taken(
        rows.getLong("epoch"),
        instant(rows, "lease_until").orElseThrow(),
        instant(rows, "next_run_at").orElseThrow(),
        rows.getInt("attempts"),
        Optional.ofNullable(rows.getString("former_owner")),
        instant(rows, "now").orElseThrow());
  }

  /** Inserts the row if it is missing, and updates its schedule if that has changed. */
  static void register(Connection connection, String job, Schedule schedule) throws SQLException {
    try (var statement = connection.prepareStatement(REGISTER)) {
      statement.setString(1, job);
      statement.setLong(2, schedule.intervalMicros());
      statement.setString(3, schedule.misfire().text());
      statement.setLong(4, schedule.intervalMicros());
      statement.setLong(5, schedule.intervalMicros());
      statement.executeUpdate();
    }
  }

  /**
   * Returns whether the epoch is still the owner's. Until the transaction ends no other owner can
   * take the job.
   */
  static boolean fence(Connection connection, String job, String owner, long epoch, Duration lease)
      throws SQLException {
    try (var statement = connection.prepareStatement(FENCE)) {
      statement.setString(1, Long.toString(Math.max(1, lease.toMillis() / 3)));
      statement.setString(2, job);
      statement.setString(3, owner);
      statement.setLong(4, epoch);
      try (var rows = statement.executeQuery()) {
        return rows.next();
      }
    }
  }

  static Optional<Instant> instant(ResultSet rows, String column) throws SQLException {
    return Optional.ofNullable(rows.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }

  static void set(PreparedStatement statement, int index, Instant value) throws SQLException {
    statement.setObject(index, value.atOffset(ZoneOffset.UTC));
  }
}
