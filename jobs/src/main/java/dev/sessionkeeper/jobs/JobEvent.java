package dev.sessionkeeper.jobs;

import java.time.Duration;

/** An event of a job on this node, for metrics and alerts. */
public sealed interface JobEvent {
  String job();

  /** This node owns the job now. */
  record Acquired(String job, long epoch) implements JobEvent {}

  /** This node took the job over from an owner whose lease expired in the middle of a run. */
  record TakenOver(String job, long epoch, String from) implements JobEvent {}

  /** The job was due and another node was faster. */
  record Contended(String job) implements JobEvent {}

  record Completed(String job, JobSlot slot, Duration took) implements JobEvent {}

  /** A run failed and is repeated after the pause. */
  record Failed(String job, int attempts, Duration took, Duration pause, String error)
      implements JobEvent {}

  /**
   * As many attempts have failed in a row that an operator should look. Sent once per series of
   * failures.
   */
  record Alerted(String job, int attempts, String error) implements JobEvent {}

  /** The lease ended in the middle of a run, which was told to stop. */
  record Lost(String job, long epoch, String why) implements JobEvent {}

  /** A call under a lost lease was refused. Nothing was changed. */
  record FenceRejected(String job, long epoch, String call) implements JobEvent {}

  /** The run was handed over to another node because this one closes. */
  record HandedOver(String job, long epoch) implements JobEvent {}

  /** The database's clock was set back, and the job was planned anew. */
  record ClockCorrected(String job) implements JobEvent {}

  /** Slots were dropped by the misfire policy. */
  record SlotsDropped(String job, long count) implements JobEvent {}
}
