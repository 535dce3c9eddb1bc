package dev.sessionkeeper.jobs;

import dev.sessionkeeper.store.Database;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Repairs the schedule of jobs after the database's clock was set back.
 *
 * <p>No job is planned further ahead than one interval, no lease lasts longer than it was taken
 * for, and no run has ended in the future. A row that says otherwise was written while the clock
 * was ahead; without a repair the job would wait until the clock gets there again.
 *
 * <p>A step back of up to a second, or an interval if that is shorter, changes nothing, so that no
 * slot runs twice because of a small correction.
 */
final class CorrectForClock {
  /** Matches rows written by a clock ahead of {@code clock.now}; one parameter: milliseconds. */
  static final String IS_AHEAD =
      """
      (next_run_at > clock.now + (interval_micros + least(interval_micros, 1000000)) * interval '1 microsecond'
       OR not_before > clock.now + (?::bigint + 1000) * interval '1 millisecond'
       OR requested_at > clock.now + interval '1 second'
       OR started_at > clock.now + interval '1 second'
       OR last_success_at > clock.now + interval '1 second'
       OR (owner IS NOT NULL AND lease_until > clock.now + (lease_millis + 1000) * interval '1 millisecond'))
      """
          .strip();

  private static final String FOLLOW =
      """
      WITH clock AS MATERIALIZED (SELECT keeper.now() AS now)
      UPDATE keeper.job
         SET next_run_at = CASE
               WHEN next_run_at > clock.now + interval_micros * interval '1 microsecond'
               THEN to_timestamp(0) + ceil(extract(epoch FROM clock.now) * 1000000 / interval_micros)
                                      * interval_micros * interval '1 microsecond'
               ELSE next_run_at END,
             not_before = CASE WHEN not_before > clock.now THEN clock.now ELSE not_before END,
             requested_at = CASE WHEN requested_at > clock.now THEN clock.now ELSE requested_at END,
             started_at = CASE WHEN started_at > clock.now THEN clock.now ELSE started_at END,
             last_success_at = CASE WHEN last_success_at > clock.now THEN clock.now ELSE last_success_at END,
             lease_until = CASE
               WHEN lease_until > clock.now + lease_millis * interval '1 millisecond'
               THEN clock.now + lease_millis * interval '1 millisecond'
               ELSE lease_until END
        FROM clock
       WHERE %s
      RETURNING name
      """
          .formatted(IS_AHEAD); // A table of a few rows.

  private final Database database;
  private final JobOptions options;

  CorrectForClock(Database database, JobOptions options) {
    this.database = database;
    this.options = options;
  }

  /** Sets the parameter of {@link #IS_AHEAD}: the longest pause after a failure. */
  void setLongestPause(PreparedStatement statement, int index) throws SQLException {
    var retry = options.retry();
    statement.setLong(index, (long) (retry.most().toMillis() * (1 + retry.jitter())));
  }

  /** Plans jobs anew whose rows are ahead of the clock, and returns their names. */
  List<String> follow() {
    return database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(FOLLOW)) {
            setLongestPause(statement, 1);
            try (var rows = statement.executeQuery()) {
              var names = new ArrayList<String>();
              while (rows.next()) {
                names.add(rows.getString(1));
              }
              return names;
            }
          }
        });
  }
}
