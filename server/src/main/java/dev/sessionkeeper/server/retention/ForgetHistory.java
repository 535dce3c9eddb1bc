package dev.sessionkeeper.server.retention;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.server.jobs.JobsConfig;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * Deletes finished runs, payloads from before a repair, refused values, departed nodes, revoked
 * keys, and subscribers that stay away: rows that no other job deletes. Also deletes the states of
 * sessions, if they have a retention.
 *
 * @param retention read at each run, because a reload may change it
 */
record ForgetHistory(Database database, Supplier<JobsConfig> retention) {
  static final String JOB = "history-retention";
  private static final Duration EVERY = Duration.ofHours(1);
  private static final int AT_ONCE = 1_000;

  /** The rows to delete, with their age in seconds as the only parameter. */
  private static final List<String> OLD =
      List.of(
          "keeper.bulk WHERE finished_at < <before>",
          "keeper.github_replay WHERE finished_at < <before>",
          "keeper.repaired_body WHERE at < <before>",
          "keeper.last_value_dead WHERE at < <before>",
          "keeper.last_value WHERE space = 'last-seen' AND at < <before>",
          "keeper.api_key WHERE revoked_at < <before>",
          "keeper.stream_subscriber WHERE seen_at < <before>",
          """
          keeper.last_value v
           WHERE v.space = 'stream-cursors' AND v.at < <before>
             AND NOT EXISTS (SELECT FROM keeper.stream_subscriber s WHERE s.stream || '/' || s.name = v.key)
          """);

  /**
   * Deletes states of sessions. Keeps those of sessions that seem to have work, according to their
   * rows.
   */
  private static final String STATES =
      """
      keeper.session_state s
       WHERE s.updated_at < <before>
         AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = s.queue AND l.session = s.session)
      """;

  void schedule(Jobs jobs) {
    jobs.register(JOB, Schedule.every(EVERY), this::run);
  }

  private void run(JobContext context) {
    var ages = retention.get();
    int all = 0;
    for (var rows : OLD) {
      all += forget(context, rows, ages.history());
    }
    if (ages.states().isPresent()) {
      all += forget(context, STATES, ages.states().get());
    }
    context.report(all + " rows forgotten");
  }

  private int forget(JobContext context, String rows, Duration age) {
    int all = 0;
    int gone = AT_ONCE;
    while (gone == AT_ONCE && context.isHeld() && !context.isStopping()) {
      gone = forget(rows, age);
      all += gone;
    }
    return all;
  }

  private int forget(String rows, Duration age) {
    var table = rows.substring(0, rows.indexOf(' '));
    var sql =
        "DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s LIMIT %d))"
            .formatted(
                table,
                rows.replace("<before>", "clock_timestamp() - ? * interval '1 second'"),
                AT_ONCE);
    return database.inTransaction(
        connection -> {
          try (var statement = connection.prepareStatement(sql)) {
            statement.setLong(1, age.toSeconds());
            return statement.executeUpdate();
          }
        });
  }
}
