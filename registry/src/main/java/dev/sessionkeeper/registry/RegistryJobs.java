package dev.sessionkeeper.registry;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.registry.usage.UsageProof;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.NumberEvents;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The scheduled work of the registry. */
public final class RegistryJobs {
  /** Ends sessions that are past their end; correctness never depends on it. */
  public static final String EXPIRY = "session-expiry";

  /** Meters and freezes. */
  public static final String TICK = "usage-tick";

  /** Delivers what was frozen, and what has to be sent again. */
  public static final String DELIVERY = "usage-delivery";

  /** Compares the sums, so that somebody is told before somebody asks. */
  public static final String RECONCILIATION = "usage-reconciliation";

  /** Numbers events that no node has numbered right after their commit. */
  public static final String NUMBERING = "event-numbering";

  private static final Logger log = LoggerFactory.getLogger(RegistryJobs.class);
  private static final Duration DELIVER_EVERY = Duration.ofSeconds(5);
  private static final int EVENTS_AT_ONCE = 1000;

  private final Jobs jobs;
  private final SessionRegistry registry;
  private final Usage usage;
  private final Database database;

  private RegistryJobs(Jobs jobs, SessionRegistry registry, Usage usage, Database database) {
    this.jobs = jobs;
    this.registry = registry;
    this.usage = usage;
    this.database = database;
  }

  /** Registers all of it. */
  public static void register(
      Jobs jobs, SessionRegistry registry, Usage usage, Database database, Duration sweepEvery) {
    var work = new RegistryJobs(jobs, registry, usage, database);
    jobs.register(EXPIRY, Schedule.every(sweepEvery), context -> work.registry.sweep());
    jobs.register(TICK, Schedule.every(usage.options().interval()), work::tick);
    jobs.register(DELIVERY, Schedule.every(DELIVER_EVERY), work::deliver);
    jobs.register(RECONCILIATION, Schedule.every(Duration.ofHours(1)), work::reconcile);
    jobs.register(NUMBERING, Schedule.every(Duration.ofSeconds(5)), work::number);
  }

  private void tick(JobContext context) {
    if (usage.meter(context) > 0) {
      jobs.requestRun(DELIVERY);
    }
  }

  private void deliver(JobContext context) throws InterruptedException {
    usage.deliver(() -> context.isHeld() && !context.isStopping());
  }

  private void number(JobContext context) {
    int numbered;
    do {
      numbered = NumberEvents.step(database, EVENTS_AT_ONCE);
    } while (numbered == EVENTS_AT_ONCE && context.isHeld());
  }

  private void reconcile(JobContext context) {
    for (UsageProof proof : usage.proof(Optional.empty())) {
      if (!proof.isExact()) {
        log.error("Usage of tenant {} does not add up: {}", proof.tenantObjectId(), proof);
        throw new IllegalStateException(
            "Usage of tenant " + proof.tenantObjectId() + " does not add up");
      }
    }
  }
}
