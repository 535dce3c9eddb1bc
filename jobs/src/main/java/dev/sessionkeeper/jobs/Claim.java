package dev.sessionkeeper.jobs;

import dev.sessionkeeper.Lease;
import java.time.Instant;
import java.util.Optional;

/**
 * A job that this node has just taken.
 *
 * @param sentNanos when the call was sent, by the monotonic clock; the lease lasts at least as if
 *     it had begun then
 */
record Claim(
    Lease lease, JobSlot slot, int attempts, Optional<String> formerOwner, long sentNanos) {
  static Claim of(Lease lease, TakeJob.Taken taken, Schedule schedule, long sentNanos) {
    Instant now = taken.now();
    return new Claim(
        lease,
        schedule.slotAt(taken.nextRunAt(), now),
        taken.attempts(),
        taken.formerOwner(),
        sentNanos);
  }

  String job() {
    return lease.resource();
  }
}
