package dev.sessionkeeper.server.security;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.store.AuditChain;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.function.Supplier;

/** Seals new audit entries every few seconds, and deletes those older than their retention. */
public final class SealAudit {
  static final String SEAL = "audit-seal";
  static final String FORGET = "audit-retention";
  private static final Duration SEAL_EVERY = Duration.ofSeconds(10);
  private static final Duration FORGET_EVERY = Duration.ofHours(1);
  private static final int AT_ONCE = 1_000;

  private final Database database;
  private final Supplier<Duration> retention;

  /**
   * Creates the job.
   *
   * @param retention read at each run, because a reload may change it
   */
  public SealAudit(Database database, Supplier<Duration> retention) {
    this.database = database;
    this.retention = retention;
  }

  public void schedule(Jobs jobs) {
    jobs.register(SEAL, Schedule.every(SEAL_EVERY), context -> all(database));
    jobs.register(FORGET, Schedule.every(FORGET_EVERY), this::forget);
  }

  /** Seals all committed entries now. */
  static void all(Database database) {
    int sealed = AT_ONCE;
    while (sealed == AT_ONCE) {
      sealed = database.inTransaction(AuditChain::seal);
    }
  }

  private void forget(JobContext context) {
    int all = 0;
    int gone = AT_ONCE;
    while (gone > 0 && context.isHeld() && !context.isStopping()) {
      gone =
          database.inTransaction(
              connection -> AuditChain.forget(connection, retention.get(), AT_ONCE));
      all += gone;
    }
    context.report(all + " audit entries forgotten");
  }
}
