package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.jobs.JobEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.Consumer;

/** Counts what happens to jobs. Jobs are few and their names are fixed, so they may be labels. */
public final class JobMeters implements Consumer<JobEvent> {
  private final MeterRegistry registry;
  private final Counter contention;
  private final Counter takenOver;
  private final Counter fenceRejections;

  public JobMeters(MeterRegistry registry) {
    this.registry = registry;
    contention = registry.counter("keeper.lease.contention");
    takenOver =
        Counter.builder("keeper.stale.leases.taken.over")
            .description("Leases of jobs that ran out in the middle of a run and were taken over")
            .register(registry);
    fenceRejections = registry.counter("keeper.fence.rejections");
  }

  @Override
  public void accept(JobEvent event) {
    switch (event) {
      case JobEvent.Acquired acquired -> {}
      case JobEvent.TakenOver taken -> takenOver.increment();
      case JobEvent.Contended contended -> contention.increment();
      case JobEvent.Completed done -> duration(done.job(), "completed", done.took());
      case JobEvent.Failed failed -> duration(failed.job(), "failed", failed.took());
      case JobEvent.Alerted alerted -> count("keeper.job.alerts", alerted.job(), 1);
      case JobEvent.Lost lost -> count("keeper.job.leases.lost", lost.job(), 1);
      case JobEvent.FenceRejected rejected -> fenceRejections.increment();
      case JobEvent.HandedOver over -> {}
      case JobEvent.FollowedClock followed -> count("keeper.job.clock.followed", followed.job(), 1);
      case JobEvent.SlotsDropped dropped ->
          count("keeper.job.slots.dropped", dropped.job(), dropped.count());
    }
  }

  private void duration(String job, String outcome, Duration took) {
    Timer.builder("keeper.job.duration")
        .description("How long runs of jobs took")
        .tag("job", job)
        .tag("outcome", outcome)
        .register(registry)
        .record(took);
  }

  private void count(String name, String job, long by) {
    registry.counter(name, "job", job).increment((double) by);
  }
}
