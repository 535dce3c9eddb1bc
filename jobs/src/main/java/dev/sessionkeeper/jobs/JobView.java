package dev.sessionkeeper.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A job as its row shows it.
 *
 * @param nextRunAt when it runs next: a slot of the schedule, or later after a failure
 * @param attempts failed attempts in a row
 */
public record JobView(
    String name,
    Duration interval,
    String misfire,
    Instant nextRunAt,
    Optional<Instant> lastSlot,
    boolean paused,
    boolean requested,
    int attempts,
    Optional<String> lastError,
    Optional<Hold> hold,
    long epoch) {
  /** The owner that runs the job now. */
  public record Hold(String owner, Instant startedAt, Instant leaseUntil, boolean expired) {}
}
