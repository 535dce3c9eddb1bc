package dev.sessionkeeper.jobs;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** What differs between databases in the statements of a lease. */
sealed interface JobDialect permits PostgresJobDialect, SqlServerJobDialect {
  /** The row of a job right after it was taken. */
  record Taken(
      long epoch,
      Instant until,
      Instant nextRunAt,
      int attempts,
      Optional<String> formerOwner,
      Instant now) {}

  /** The time of the database, as an expression. */
  String now();

  /** The time of the database and a parameter of milliseconds, as an expression. */
  String nowPlusMillis();

  /** A truth value, as an expression. */
  String bool(boolean value);

  /** Takes the lease if the job is due and free, or its owner's lease has run out. */
  Optional<Taken> acquire(Connection connection, String job, String owner, Duration lease)
      throws SQLException;

  /** Writes the row if it is missing, and the schedule if it is another. */
  void register(Connection connection, String job, Schedule schedule) throws SQLException;

  /** Whether the epoch is still the owner's; until the transaction ends nobody can take over. */
  boolean fence(Connection connection, String job, String owner, long epoch, Duration lease)
      throws SQLException;

  Optional<Instant> instant(ResultSet rows, String column) throws SQLException;

  void set(PreparedStatement statement, int index, Instant value) throws SQLException;
}
