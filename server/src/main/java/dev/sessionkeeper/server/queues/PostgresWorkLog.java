package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the results of work requests in PostgreSQL, for all servers of a database.
 *
 * <p>The row is committed asynchronously. Its settlements were durable before, and if the database
 * crashes, the leases in a lost row have ended with it.
 */
final class PostgresWorkLog implements WorkLog {
  private static final String JOB = "work-requests";
  private static final int AT_ONCE = 5_000;

  private static final String FIND =
      """
      SELECT outcomes, leases FROM keeper.work_request
       WHERE queue = ? AND credential = ? AND request_id = ?
      """; // work_request_pkey

  private static final String ADD =
      """
      WITH no_wait AS (SELECT set_config('synchronous_commit', 'off', true))
      INSERT INTO keeper.work_request (queue, credential, request_id, outcomes, leases)
      SELECT ?, ?, ?, ?, ? FROM no_wait ON CONFLICT DO NOTHING
      """;

  private static final String COMPLETE =
      """
      WITH no_wait AS (SELECT set_config('synchronous_commit', 'off', true))
      UPDATE keeper.work_request SET leases = ? FROM no_wait
       WHERE queue = ? AND credential = ? AND request_id = ?
      """; // work_request_pkey

  private static final String FORGET =
      """
      DELETE FROM keeper.work_request WHERE ctid IN (
        SELECT ctid FROM keeper.work_request
         WHERE at < clock_timestamp() - make_interval(secs => ?) ORDER BY at LIMIT ?)
      """; // work_request_at (at)

  private final Database database;

  private PostgresWorkLog(Database database) {
    this.database = database;
  }

  /** Returns the log of a database, after migrating its table. */
  static PostgresWorkLog in(Database database) {
    Migrations.apply(database.source(), "work");
    return new PostgresWorkLog(database);
  }

  @Override
  public Optional<Result> find(Round round) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(FIND)) {
            name(statement, 1, round);
            try (var rows = statement.executeQuery()) {
              return rows.next() ? Optional.of(result(rows)) : Optional.empty();
            }
          }
        });
  }

  @Override
  public boolean add(Round round, Result result) {
    return database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(ADD)) {
            name(statement, 1, round);
            statement.setArray(4, outcomes(connection, result));
            statement.setArray(5, leases(connection, result));
            return statement.executeUpdate() == 1;
          }
        });
  }

  @Override
  public void complete(Round round, Result result) {
    database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(COMPLETE)) {
            statement.setArray(1, leases(connection, result));
            name(statement, 2, round);
            return statement.executeUpdate();
          }
        });
  }

  /** Registers the job that deletes expired results, in small batches. */
  void schedule(Jobs jobs) {
    jobs.register(JOB, Schedule.every(Duration.ofMinutes(1)), this::forgetOld);
  }

  private void forgetOld(JobContext context) {
    int gone = AT_ONCE;
    while (gone == AT_ONCE && context.isHeld() && !context.isStopping()) {
      gone =
          database.inStatement(
              connection -> {
                try (var statement = connection.prepareStatement(FORGET)) {
                  statement.setDouble(1, (double) KEPT.toSeconds());
                  statement.setInt(2, AT_ONCE);
                  return statement.executeUpdate();
                }
              });
    }
  }

  private static void name(PreparedStatement statement, int first, Round round)
      throws SQLException {
    statement.setString(first, round.queue().value());
    statement.setString(first + 1, round.credential());
    statement.setString(first + 2, round.requestId());
  }

  private static java.sql.Array outcomes(Connection connection, Result result) throws SQLException {
    return Columns.array(connection, "text", result.outcomes().stream().map(Enum::name).toList());
  }

  private static java.sql.Array leases(Connection connection, Result result) throws SQLException {
    return Columns.array(connection, "text", result.leaseIds());
  }

  private static Result result(ResultSet row) throws SQLException {
    var outcomes =
        Arrays.stream((String[]) row.getArray(1).getArray())
            .map(WorkAnswer.Outcome::valueOf)
            .toList();
    return new Result(outcomes, List.of((String[]) row.getArray(2).getArray()));
  }
}
