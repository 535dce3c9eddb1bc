package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.postgres.SharedBodies;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Deletes GitHub events after their retention, in small batches.
 *
 * @param retention read at each run, because a reload may change it
 */
record ForgetOldEvents(Supplier<Duration> retention) {
  static final String JOB = "github-retention";
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

  void schedule(Jobs jobs) {
    jobs.register(JOB, Schedule.every(EVERY), this::run);
  }

  private void run(JobContext context) {
    int all = 0;
    int gone = AT_ONCE;
    while (gone == AT_ONCE && context.isHeld() && !context.isStopping()) {
      gone = context.inFencedTransaction(this::forgetSome);
      all += gone;
      context.report(all + " events of GitHub forgotten");
    }
    if (context.isHeld() && !context.isStopping()) {
      context.inFencedTransaction(OutageTable::forgetOld);
    }
  }

  /** Deletes some events that are too old; returns how many. */
  int forgetSome(Connection connection) throws SQLException {
    var ids = new ArrayList<UUID>();
    try (var statement = connection.prepareStatement(FORGET)) {
      statement.setDouble(1, (double) retention.get().toSeconds());
      statement.setInt(2, AT_ONCE);
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          ids.add(rows.getObject(1, UUID.class));
        }
      }
    }
    // A message that still waits, for instance in a parked session, keeps its payload.
    SharedBodies.release(connection, ids);
    return ids.size();
  }
}
