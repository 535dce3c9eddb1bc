package dev.sessionkeeper.jobs;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * The lease on SQL Server. docs/jobs.md says what of it has been run.
 *
 * <p>The row is read back after the update, in the same transaction and under its lock, instead of
 * with an OUTPUT clause: that is refused on tables with triggers.
 */
record SqlServerJobDialect() implements JobDialect {
  private static final String LOCK =
      """
      SELECT owner
        FROM keeper.job WITH (UPDLOCK, ROWLOCK)
       WHERE name = ?
      """;

  // The time of a statement is fixed when it begins: this one begins after the lock was got.
  private static final String ACQUIRE =
      """
      UPDATE keeper.job
         SET owner = ?, epoch = epoch + 1, started_at = SYSUTCDATETIME(),
             lease_until = DATEADD(millisecond, ?, SYSUTCDATETIME()),
             attempts = attempts + CASE WHEN owner IS NULL THEN 0 ELSE 1 END
       WHERE name = ?
         AND (owner IS NULL OR lease_until < SYSUTCDATETIME())
         AND (requested_at IS NOT NULL
              OR (paused = 0 AND next_run_at <= SYSUTCDATETIME()
                  AND (not_before IS NULL OR not_before <= SYSUTCDATETIME())))
      """;

  private static final String READ =
      """
      SELECT epoch, lease_until, next_run_at, attempts, SYSUTCDATETIME() AS at_now
        FROM keeper.job
       WHERE name = ?
      """;

  private static final String UPDATE_SCHEDULE =
      "UPDATE keeper.job SET interval_micros = ?, misfire = ? WHERE name = ?";

  private static final String INSERT =
      """
      INSERT INTO keeper.job (name, interval_micros, misfire, next_run_at)
      SELECT ?, ?, ?, ?
       WHERE NOT EXISTS (SELECT 1 FROM keeper.job WHERE name = ?)
      """;

  private static final String FENCE =
      """
      SELECT 1
        FROM keeper.job WITH (REPEATABLEREAD, ROWLOCK)
       WHERE name = ? AND owner = ? AND epoch = ?
      """;

  @Override
  public String now() {
    return "SYSUTCDATETIME()";
  }

  @Override
  public String nowPlusMillis() {
    return "DATEADD(millisecond, ?, SYSUTCDATETIME())";
  }

  @Override
  public String bool(boolean value) {
    return value ? "1" : "0";
  }

  @Override
  public Optional<Taken> acquire(Connection connection, String job, String owner, Duration lease)
      throws SQLException {
    var former = ownerUnderLock(connection, job);
    try (var statement = connection.prepareStatement(ACQUIRE)) {
      statement.setString(1, owner);
      statement.setLong(2, lease.toMillis());
      statement.setString(3, job);
      if (statement.executeUpdate() == 0) {
        return Optional.empty();
      }
    }
    try (var statement = connection.prepareStatement(READ)) {
      statement.setString(1, job);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return Optional.of(
            new Taken(
                rows.getLong("epoch"),
                instant(rows, "lease_until").orElseThrow(),
                instant(rows, "next_run_at").orElseThrow(),
                rows.getInt("attempts"),
                former,
                instant(rows, "at_now").orElseThrow()));
      }
    }
  }

  private static Optional<String> ownerUnderLock(Connection connection, String job)
      throws SQLException {
    try (var statement = connection.prepareStatement(LOCK)) {
      statement.setString(1, job);
      try (var rows = statement.executeQuery()) {
        return rows.next() ? Optional.ofNullable(rows.getString(1)) : Optional.empty();
      }
    }
  }

  @Override
  public void register(Connection connection, String job, Schedule schedule) throws SQLException {
    try (var update = connection.prepareStatement(UPDATE_SCHEDULE);
        var insert = connection.prepareStatement(INSERT)) {
      update.setLong(1, schedule.intervalMicros());
      update.setString(2, schedule.misfire().text());
      update.setString(3, job);
      if (update.executeUpdate() > 0) {
        return;
      }
      insert.setString(1, job);
      insert.setLong(2, schedule.intervalMicros());
      insert.setString(3, schedule.misfire().text());
      set(insert, 4, schedule.next(schedule.slotAt(Instant.MAX, now(connection))));
      insert.setString(5, job);
      insert.executeUpdate();
    }
  }

  private static Instant now(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery("SELECT SYSUTCDATETIME()")) {
      rows.next();
      return rows.getObject(1, LocalDateTime.class).toInstant(ZoneOffset.UTC);
    }
  }

  @Override
  public boolean fence(Connection connection, String job, String owner, long epoch, Duration lease)
      throws SQLException {
    try (var statement = connection.prepareStatement(FENCE)) {
      statement.setString(1, job);
      statement.setString(2, owner);
      statement.setLong(3, epoch);
      try (var rows = statement.executeQuery()) {
        return rows.next();
      }
    }
  }

  @Override
  public Optional<Instant> instant(ResultSet rows, String column) throws SQLException {
    return Optional.ofNullable(rows.getObject(column, LocalDateTime.class))
        .map(at -> at.toInstant(ZoneOffset.UTC));
  }

  @Override
  public void set(PreparedStatement statement, int index, Instant value) throws SQLException {
    statement.setObject(index, LocalDateTime.ofInstant(value, ZoneOffset.UTC));
  }
}
