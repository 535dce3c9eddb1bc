package dev.sessionkeeper.server.retention;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * Deletes finished runs, payloads from before a repair, refused values, departed nodes and revoked
 * keys: rows that no other job deletes.
 *
 * @param retention read at each run, because a reload may change it
 */
record ForgetHistory(Database database, Supplier<Duration> retention) {
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
          "keeper.api_key WHERE revoked_at < <before>");

  void schedule(Jobs jobs) {
    jobs.register(JOB, Schedule.every(EVERY), this::run);
  }

  private void run(JobContext context) {
    int all = 0;
    for (var rows : OLD) {
      int gone = AT_ONCE;
      while (gone == AT_ONCE && context.isHeld() && !context.isStopping()) {
        gone = forget(rows);
        all += gone;
      }
    }
    context.report(all + " rows forgotten");
  }

  private int forget(String rows) {
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
            statement.setLong(1, retention.get().toSeconds());
            return statement.executeUpdate();
          }
        });
  }
}
