package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Deletes events that are older than their retention, in small batches.
 *
 * @param retention read at each run, because a reload may change it
 */
record ForgetOldEvents(StreamLog streams, Supplier<Duration> retention) {
  static final String JOB = "event-retention";
  private static final Duration EVERY = Duration.ofMinutes(1);
  private static final int AT_ONCE = 1_000;

  void schedule(Jobs jobs) {
    jobs.register(JOB, Schedule.every(EVERY), this::run);
  }

  private void run(JobContext context) {
    int all = 0;
    int gone = AT_ONCE;
    while (gone >= AT_ONCE && context.isHeld() && !context.isStopping()) {
      gone = streams.forgetOlderThan(retention.get(), AT_ONCE);
      all += gone;
      context.report(all + " events forgotten");
    }
  }
}
