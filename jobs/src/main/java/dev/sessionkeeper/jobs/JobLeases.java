package dev.sessionkeeper.jobs;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The SQL statements of a job's lease: take, renew, and the three ways to release it.
 *
 * <p>I1: every statement but the first compares owner and epoch, so it changes nothing once another
 * owner has the job. I2: only {@link #complete} moves the schedule to the next slot.
 */
final class JobLeases {
  private static final String BEGIN_RUN =
      """
      INSERT INTO keeper.job_run (job, epoch, owner, slot, missed, started_at, outcome)
      VALUES (?, ?, ?, ?, ?, keeper.now(), 'running')
      """;

  private static final String ABANDON_RUNS =
      """
      UPDATE keeper.job_run SET outcome = 'abandoned', ended_at = keeper.now()
       WHERE job = ? AND epoch < ? AND outcome = 'running'
      """; // job_run_pkey (job, epoch)

  private static final String RENEW =
      """
      UPDATE keeper.job SET lease_until = keeper.now() + ? * interval '1 millisecond'
       WHERE name = ? AND owner = ? AND epoch = ? AND lease_until >= keeper.now()
      """;

  private static final String COMPLETE =
      """
      UPDATE keeper.job
         SET owner = NULL, last_slot = ?, next_run_at = ?, not_before = NULL, attempts = 0,
             last_error = NULL, last_success_at = keeper.now(),
             requested_at = CASE WHEN requested_at > started_at THEN requested_at END
       WHERE name = ? AND owner = ? AND epoch = ?
      """;

  // A run on request belongs to no slot of the schedule, so the schedule stays.
  private static final String COMPLETE_MANUAL =
      """
      UPDATE keeper.job
         SET owner = NULL, not_before = NULL, attempts = 0, last_error = NULL,
             last_success_at = keeper.now(),
             requested_at = CASE WHEN requested_at > started_at THEN requested_at END
       WHERE name = ? AND owner = ? AND epoch = ?
      """;

  private static final String FAIL =
      """
      UPDATE keeper.job
         SET owner = NULL, not_before = keeper.now() + ? * interval '1 millisecond', attempts = attempts + 1, last_error = ?,
             requested_at = CASE WHEN requested_at > started_at THEN requested_at END
       WHERE name = ? AND owner = ? AND epoch = ?
      """;

  private static final String RELEASE =
      "UPDATE keeper.job SET owner = NULL WHERE name = ? AND owner = ? AND epoch = ?";

  private static final String END_RUN =
      """
      UPDATE keeper.job_run SET outcome = ?, ended_at = keeper.now(), error = ?
       WHERE job = ? AND epoch = ?
      """;

  private static final String FORGET_RUNS =
      "DELETE FROM keeper.job_run WHERE job = ? AND epoch <= ?";

  private static final Duration LONGEST_STATEMENT = Duration.ofMinutes(5);

  private final Database database;
  private final Database work;
  private final JobOptions options;

  JobLeases(Database database, JobOptions options) {
    this.database = database;
    this.work = database.patient(LONGEST_STATEMENT);
    this.options = options;
  }

  Database database() {
    return database;
  }

  /** For the work of runs, which may take longer than a request; a lost lease ends it anyway. */
  Database work() {
    return work;
  }

  void register(String job, Schedule schedule) {
    database.doInTransaction(connection -> TakeJob.register(connection, job, schedule));
  }

  Optional<Claim> acquire(String job, Schedule schedule) {
    long sent = options.time().nanoTime();
    return database.inTransaction(
        connection -> {
          var taken = TakeJob.acquire(connection, job, owner(), options.lease());
          if (taken.isEmpty()) {
            return Optional.empty();
          }
          var lease = lease(job, taken.get());
          var claim = Claim.of(lease, taken.get(), schedule, sent);
          beginRun(connection, claim);
          return Optional.of(claim);
        });
  }

  private Lease lease(String job, TakeJob.Taken taken) {
    return new Lease(job, Owner.of(owner()), taken.epoch(), taken.until());
  }

  private void beginRun(Connection connection, Claim claim) throws SQLException {
    try (var abandon = connection.prepareStatement(ABANDON_RUNS);
        var begin = connection.prepareStatement(BEGIN_RUN)) {
      if (claim.formerOwner().isPresent()) {
        abandon.setString(1, claim.job());
        abandon.setLong(2, claim.lease().epoch());
        abandon.executeUpdate();
      }
      begin.setString(1, claim.job());
      begin.setLong(2, claim.lease().epoch());
      begin.setString(3, owner());
      TakeJob.set(begin, 4, claim.slot().at());
      begin.setLong(5, claim.slot().covered() + claim.slot().dropped());
      begin.executeUpdate();
    }
  }

  /** Extends the lease from now. Returns false if it is no longer held. */
  boolean renew(Connection connection, Lease lease) throws SQLException {
    try (var statement = connection.prepareStatement(RENEW)) {
      statement.setLong(1, options.lease().toMillis());
      setLease(statement, 2, lease);
      return statement.executeUpdate() == 1;
    }
  }

  /** Returns whether the lease is held, and locks it until the connection's transaction ends. */
  boolean fence(Connection connection, Lease lease) throws SQLException {
    return TakeJob.fence(
        connection, lease.resource(), lease.owner().name(), lease.epoch(), options.lease());
  }

  /**
   * Marks the slot as done and releases the lease. Returns false if the lease is no longer held.
   */
  boolean complete(Connection connection, Lease lease, JobSlot slot, Instant next)
      throws SQLException {
    var sql = slot.manual() ? COMPLETE_MANUAL : COMPLETE;
    try (var statement = connection.prepareStatement(sql)) {
      int index = 1;
      if (!slot.manual()) {
        TakeJob.set(statement, index++, slot.at());
        TakeJob.set(statement, index++, next);
      }
      setLease(statement, index, lease);
      return statement.executeUpdate() == 1
          && endRun(connection, lease, JobRun.Outcome.COMPLETED, null);
    }
  }

  /** Releases the lease after a failed attempt, which is repeated after the pause. */
  boolean fail(Lease lease, String error, Duration pause) {
    return database.inTransaction(
        connection -> {
          try (var statement = connection.prepareStatement(FAIL)) {
            statement.setLong(1, pause.toMillis());
            statement.setString(2, error);
            setLease(statement, 3, lease);
            return statement.executeUpdate() == 1
                && endRun(connection, lease, JobRun.Outcome.FAILED, error);
          }
        });
  }

  /** Releases the lease in the middle of a run: the next poll of any node takes the job. */
  boolean release(Lease lease) {
    return database.inTransaction(
        connection -> {
          try (var statement = connection.prepareStatement(RELEASE)) {
            setLease(statement, 1, lease);
            return statement.executeUpdate() == 1
                && endRun(connection, lease, JobRun.Outcome.HANDED_OVER, null);
          }
        });
  }

  private boolean endRun(
      Connection connection, Lease lease, JobRun.Outcome outcome, @Nullable String error)
      throws SQLException {
    try (var end = connection.prepareStatement(END_RUN);
        var forget = connection.prepareStatement(FORGET_RUNS)) {
      end.setString(1, outcome.text());
      end.setString(2, error);
      end.setString(3, lease.resource());
      end.setLong(4, lease.epoch());
      end.executeUpdate();
      forget.setString(1, lease.resource());
      forget.setLong(2, lease.epoch() - options.historyKept());
      forget.executeUpdate();
      return true;
    }
  }

  private static void setLease(PreparedStatement statement, int index, Lease lease)
      throws SQLException {
    statement.setString(index, lease.resource());
    statement.setString(index + 1, lease.owner().name());
    statement.setLong(index + 2, lease.epoch());
  }

  private String owner() {
    return options.owner().name();
  }
}
