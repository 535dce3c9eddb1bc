package dev.sessionkeeper.jobs;

import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Lists jobs and applies operators' actions. Needs no lease. */
final class JobTable {
  private static final String DUE =
      """
      WITH clock AS MATERIALIZED (SELECT keeper.now() AS now)
      SELECT name, is_ahead IS TRUE
        FROM keeper.job, clock, LATERAL (SELECT %s AS is_ahead) at
       WHERE is_ahead
          OR ((owner IS NULL OR lease_until < clock.now)
              AND (requested_at IS NOT NULL
                   OR (NOT paused AND next_run_at <= clock.now
                       AND (not_before IS NULL OR not_before <= clock.now))))
       ORDER BY next_run_at
      """
          .formatted(CorrectForClock.IS_AHEAD); // A table of a few rows.

  private static final String VIEW =
      """
      SELECT name, interval_micros, misfire, next_run_at, not_before, last_slot, paused,
             requested_at, attempts, last_error, owner, epoch, started_at, lease_until,
             CASE WHEN lease_until < keeper.now() THEN 1 ELSE 0 END AS expired
        FROM keeper.job
       WHERE name = COALESCE(?, name)
       ORDER BY name
      """;

  private static final String PULSES =
      """
      WITH clock AS MATERIALIZED (SELECT keeper.now() AS now)
      SELECT name, interval_micros, paused,
             (extract(epoch FROM greatest(now - coalesce(last_success_at, created_at), interval '0')) * 1000000)::bigint,
             CASE WHEN owner IS NULL THEN 0
                  ELSE (extract(epoch FROM greatest(now - started_at, interval '0')) * 1000000)::bigint END
        FROM keeper.job, clock
       ORDER BY name
      """;

  private static final String HISTORY =
      """
      SELECT epoch, owner, slot, missed, started_at, ended_at, outcome, error, progress
        FROM keeper.job_run
       WHERE job = ?
       ORDER BY epoch DESC
      """; // job_run_pkey (job, epoch)

  private static final String REQUEST =
      "UPDATE keeper.job SET requested_at = keeper.now() WHERE name = ?";
  private static final String PAUSE = "UPDATE keeper.job SET paused = true WHERE name = ?";
  private static final String RESUME =
      "UPDATE keeper.job SET paused = false, not_before = NULL WHERE name = ?";

  private final Database database;
  private final CorrectForClock clock;

  JobTable(Database database, CorrectForClock clock) {
    this.database = database;
    this.clock = clock;
  }

  /**
   * The result of one poll for due jobs.
   *
   * @param due jobs that can be taken now
   * @param isClockBack whether the database's clock is behind the schedule of some job
   */
  record Look(List<String> due, boolean isClockBack) {}

  /** Returns those of these jobs that can be taken now. */
  Look look(Collection<String> mine) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(DUE)) {
            clock.setLongestPause(statement, 1);
            try (var rows = statement.executeQuery()) {
              var due = new ArrayList<String>();
              boolean isClockBack = false;
              while (rows.next()) {
                if (rows.getBoolean(2)) {
                  isClockBack = true;
                } else if (mine.contains(rows.getString(1))) {
                  due.add(rows.getString(1));
                }
              }
              return new Look(due, isClockBack);
            }
          }
        });
  }

  List<JobView> views(Optional<String> name) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(VIEW)) {
            statement.setString(1, name.orElse(null));
            try (var rows = statement.executeQuery()) {
              var views = new ArrayList<JobView>();
              while (rows.next()) {
                views.add(view(rows));
              }
              return views;
            }
          }
        });
  }

  List<Jobs.Status> statuses() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(PULSES)) {
            var statuses = new ArrayList<Jobs.Status>();
            while (rows.next()) {
              statuses.add(
                  new Jobs.Status(
                      rows.getString(1),
                      micros(rows.getLong(2)),
                      rows.getBoolean(3),
                      micros(rows.getLong(4)),
                      micros(rows.getLong(5))));
            }
            return statuses;
          }
        });
  }

  private static Duration micros(long count) {
    return Duration.of(count, ChronoUnit.MICROS);
  }

  List<JobRun> history(String job, int limit) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(HISTORY)) {
            statement.setString(1, job);
            statement.setMaxRows(limit);
            try (var rows = statement.executeQuery()) {
              var runs = new ArrayList<JobRun>();
              while (rows.next()) {
                runs.add(run(rows));
              }
              return runs;
            }
          }
        });
  }

  boolean request(String job, Optional<Actor> actor) {
    return act(REQUEST, "job.run", job, actor);
  }

  boolean pause(String job, Optional<Actor> actor) {
    return act(PAUSE, "job.pause", job, actor);
  }

  boolean resume(String job, Optional<Actor> actor) {
    return act(RESUME, "job.resume", job, actor);
  }

  private boolean act(String sql, String action, String job, Optional<Actor> actor) {
    return database.inTransaction(
        connection -> {
          try (var statement = connection.prepareStatement(sql)) {
            statement.setString(1, job);
            if (statement.executeUpdate() == 0) {
              return false;
            }
          }
          if (actor.isPresent()) {
            AuditLog.write(connection, new AuditLog.Entry(actor.get(), action, job, "", ""));
          }
          return true;
        });
  }

  private JobView view(ResultSet rows) throws SQLException {
    var next = TakeJob.instant(rows, "next_run_at").orElseThrow();
    var notBefore = TakeJob.instant(rows, "not_before").orElse(next);
    return new JobView(
        rows.getString("name"),
        Duration.of(rows.getLong("interval_micros"), ChronoUnit.MICROS),
        rows.getString("misfire"),
        next.isAfter(notBefore) ? next : notBefore,
        TakeJob.instant(rows, "last_slot"),
        rows.getBoolean("paused"),
        TakeJob.instant(rows, "requested_at").isPresent(),
        rows.getInt("attempts"),
        Optional.ofNullable(rows.getString("last_error")),
        hold(rows),
        rows.getLong("epoch"));
  }

  private Optional<JobView.Hold> hold(ResultSet rows) throws SQLException {
    var owner = rows.getString("owner");
    if (owner == null) {
      return Optional.empty();
    }
    Instant started = TakeJob.instant(rows, "started_at").orElseThrow();
    Instant until = TakeJob.instant(rows, "lease_until").orElseThrow();
    return Optional.of(new JobView.Hold(owner, started, until, rows.getInt("expired") == 1));
  }

  private JobRun run(ResultSet rows) throws SQLException {
    return new JobRun(
        rows.getLong("epoch"),
        rows.getString("owner"),
        TakeJob.instant(rows, "slot"),
        rows.getLong("missed"),
        TakeJob.instant(rows, "started_at").orElseThrow(),
        TakeJob.instant(rows, "ended_at"),
        JobRun.Outcome.of(rows.getString("outcome")),
        Optional.ofNullable(rows.getString("error")),
        Optional.ofNullable(rows.getString("progress")));
  }
}
