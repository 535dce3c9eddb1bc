package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.jobs.JobEvent;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.operations.Sampled;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** Counts job events. Job names are few and fixed, so they may be labels. */
public final class JobMeters implements Consumer<JobEvent> {
  private static final Duration FRESH = Duration.ofSeconds(5);
  private static final String ALERTS = "keeper.job.alerts";
  private static final String LEASES_LOST = "keeper.job.leases.lost";
  private static final String SLOTS_DROPPED = "keeper.job.slots.dropped";
  private static final String CLOCK_CORRECTIONS = "keeper.job.clock.corrections";
  private static final String COMPLETED = "completed";
  private static final String FAILED = "failed";
  private static final List<String> OUTCOMES = List.of(COMPLETED, FAILED);
  private static final List<String> COUNTERS =
      List.of(ALERTS, LEASES_LOST, SLOTS_DROPPED, CLOCK_CORRECTIONS);

  private final MeterRegistry registry;
  private final Counter contention;
  private final Counter takenOver;
  private final Counter fenceRejections;

  public JobMeters(MeterRegistry registry) {
    this.registry = registry;
    contention = registry.counter("keeper.lease.contention");
    takenOver =
        Counter.builder("keeper.stale.leases.taken.over")
            .description("Leases of jobs that expired during a run and were taken over")
            .register(registry);
    fenceRejections = registry.counter("keeper.fence.rejections");
  }

  /**
   * Registers the gauges and counters of each job. Counters must exist from the start: {@code
   * increase()} misses the first increment of a counter that appears later.
   */
  public void watch(Jobs jobs, TimeSource time) {
    var statuses = new Sampled<Map<String, Jobs.Status>>(Map.of(), () -> byName(jobs), FRESH, time);
    for (var job : byName(jobs).keySet()) {
      COUNTERS.forEach(name -> count(name, job, 0));
      OUTCOMES.forEach(outcome -> duration(job, outcome));
      gauge(
          "keeper.job.last.success.age",
          "How long ago the last successful run of the job ended",
          job,
          statuses,
          pulse -> pulse.sinceSuccess().toNanos() / 1e9);
      gauge(
          "keeper.job.interval",
          "The time between two slots of the job",
          job,
          statuses,
          pulse -> pulse.interval().toNanos() / 1e9);
      gauge(
          "keeper.job.running",
          "How long the current run of the job has held its lease; 0 without a run",
          job,
          statuses,
          pulse -> pulse.running().toNanos() / 1e9);
      Gauge.builder("keeper.job.paused", () -> value(statuses, job, p -> p.paused() ? 1.0 : 0.0))
          .description("Whether the job is paused")
          .tag("job_name", job)
          .register(registry);
    }
  }

  private void gauge(
      String name,
      String description,
      String job,
      Sampled<Map<String, Jobs.Status>> statuses,
      ToDoubleFunction<Jobs.Status> number) {
    Gauge.builder(name, () -> value(statuses, job, number))
        .description(description)
        .baseUnit("seconds")
        .tag("job_name", job)
        .register(registry);
  }

  private static double value(
      Sampled<Map<String, Jobs.Status>> statuses,
      String job,
      ToDoubleFunction<Jobs.Status> number) {
    var pulse = statuses.get().get(job);
    return pulse == null ? Double.NaN : number.applyAsDouble(pulse);
  }

  private static Map<String, Jobs.Status> byName(Jobs jobs) {
    return jobs.statuses().stream().collect(Collectors.toMap(Jobs.Status::job, pulse -> pulse));
  }

  @Override
  public void accept(JobEvent event) {
    switch (event) {
      case JobEvent.Acquired acquired -> {}
      case JobEvent.TakenOver taken -> takenOver.increment();
      case JobEvent.Contended contended -> contention.increment();
      case JobEvent.Completed done -> duration(done.job(), COMPLETED).record(done.took());
      case JobEvent.Failed failed -> duration(failed.job(), FAILED).record(failed.took());
      case JobEvent.Alerted alerted -> count(ALERTS, alerted.job(), 1);
      case JobEvent.Lost lost -> count(LEASES_LOST, lost.job(), 1);
      case JobEvent.FenceRejected rejected -> fenceRejections.increment();
      case JobEvent.HandedOver over -> {}
      case JobEvent.ClockCorrected followed -> count(CLOCK_CORRECTIONS, followed.job(), 1);
      case JobEvent.SlotsDropped dropped -> count(SLOTS_DROPPED, dropped.job(), dropped.count());
    }
  }

  private Timer duration(String job, String outcome) {
    return Timer.builder("keeper.job.duration")
        .description("How long runs of jobs took")
        .tag("job_name", job)
        .tag("outcome", outcome)
        .register(registry);
  }

  private void count(String name, String job, long by) {
    registry.counter(name, "job_name", job).increment((double) by);
  }
}
