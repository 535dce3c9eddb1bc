package dev.sessionkeeper.registry.scheduled;

import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.registry.usage.UsageProof;
import java.time.Duration;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The scheduled work of the registry. */
public final class RegistryJobs {
  /** Ends expired sessions; correctness never depends on it. */
  public static final String EXPIRY = "session-expiry";

  /** Meters open sessions and freezes batches. */
  public static final String TICK = "usage-tick";

  /** Delivers frozen batches, and repeats failed deliveries. */
  public static final String DELIVERY = "usage-delivery";

  /** Checks the usage proof, and fails if it is not exact. */
  public static final String RECONCILIATION = "usage-reconciliation";

  /** Deletes usage that was delivered longer ago than the configured retention. */
  public static final String RETENTION = "usage-retention";

  /** Numbers events that no node has numbered right after their commit. */
  public static final String NUMBERING = "event-numbering";

  private static final Logger log = LoggerFactory.getLogger(RegistryJobs.class);
  private static final Duration DELIVER_EVERY = Duration.ofSeconds(5);

  private final Jobs jobs;
  private final SessionRegistry registry;
  private final Usage usage;
  private final IntSupplier numberSome;

  private RegistryJobs(Jobs jobs, SessionRegistry registry, Usage usage, IntSupplier numberSome) {
    this.jobs = jobs;
    this.registry = registry;
    this.usage = usage;
    this.numberSome = numberSome;
  }

  /**
   * Registers all jobs of the registry except the retention.
   *
   * @param numberSome numbers some of the waiting events; returns 0 if there are none
   */
  public static void register(
      Jobs jobs,
      SessionRegistry registry,
      Usage usage,
      IntSupplier numberSome,
      Duration sweepEvery) {
    var work = new RegistryJobs(jobs, registry, usage, numberSome);
    jobs.register(EXPIRY, Schedule.every(sweepEvery), work::sweep);
    jobs.register(TICK, Schedule.every(usage.options().interval()), work::tick);
    jobs.register(DELIVERY, Schedule.every(DELIVER_EVERY), work::deliver);
    jobs.register(RECONCILIATION, Schedule.every(Duration.ofHours(1)), work::reconcile);
    jobs.register(NUMBERING, Schedule.every(Duration.ofSeconds(5)), work::number);
  }

  /** Registers the job that deletes usage delivered longer ago than this. */
  public static void registerRetention(Jobs jobs, Usage usage, Duration age) {
    jobs.register(
        RETENTION,
        Schedule.every(Duration.ofHours(1)),
        context -> context.report(usage.forget(context, age) + " delivered batches forgotten"));
  }

  private void sweep(JobContext context) {
    context.report(registry.sweep() + " sessions ended");
  }

  private void tick(JobContext context) {
    if (usage.meter(context) > 0) {
      jobs.requestRun(DELIVERY);
    }
  }

  private void deliver(JobContext context) throws InterruptedException {
    int delivered = usage.deliver(() -> context.isHeld() && !context.isStopping());
    if (delivered > 0) {
      context.report(delivered + " batches acknowledged");
    }
  }

  private void number(JobContext context) {
    int all = 0;
    for (int some = 1; some > 0 && context.isHeld(); ) {
      some = numberSome.getAsInt();
      all += some;
    }
    if (all > 0) {
      context.report(all + " events numbered");
    }
  }

  private void reconcile(JobContext context) {
    for (UsageProof proof : usage.reconcile()) {
      if (!proof.isExact()) {
        log.error("Usage of tenant {} does not add up: {}", proof.tenantObjectId(), proof);
        throw new IllegalStateException(
            "Usage of tenant " + proof.tenantObjectId() + " does not add up");
      }
    }
  }
}
