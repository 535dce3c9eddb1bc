package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.jobs.JobRun;
import dev.sessionkeeper.jobs.JobView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A job as the API shows it. */
record JobItem(
    String name,
    Duration interval,
    String misfire,
    Instant nextRunAt,
    Optional<Instant> lastSlot,
    boolean paused,
    boolean requested,
    int attempts,
    Optional<String> lastError,
    Optional<String> owner,
    long epoch,
    Optional<Instant> startedAt,
    Optional<Instant> leaseUntil,
    List<Run> history) {

  /** All jobs, by name. */
  record Listing(List<JobItem> jobs) {}

  /** One run of a job. */
  record Run(
      long epoch,
      String owner,
      Optional<Instant> slot,
      long missed,
      Instant startedAt,
      Optional<Instant> endedAt,
      String outcome,
      Optional<String> error,
      Optional<String> progress) {
    static Run of(JobRun run) {
      return new Run(
          run.epoch(),
          run.owner(),
          run.slot(),
          run.missed(),
          run.startedAt(),
          run.endedAt(),
          run.outcome().text(),
          run.error(),
          run.progress());
    }
  }

  static JobItem of(JobView view, List<JobRun> history) {
    return new JobItem(
        view.name(),
        view.interval(),
        view.misfire(),
        view.nextRunAt(),
        view.lastSlot(),
        view.paused(),
        view.requested(),
        view.attempts(),
        view.lastError(),
        view.hold().map(JobView.Hold::owner),
        view.epoch(),
        view.hold().map(JobView.Hold::startedAt),
        view.hold().map(JobView.Hold::leaseUntil),
        history.stream().map(Run::of).toList());
  }
}
