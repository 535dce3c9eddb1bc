package dev.sessionkeeper.jobs;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The options for leasing and repeating jobs on this node.
 *
 * @param owner unique per process start, so that a restarted process is not taken for its
 *     predecessor
 * @param lease how long an owner may be silent before another node takes the job over
 * @param poll the longest pause between two polls for due jobs; each pause is 70 to 90 % of it
 * @param retry the pause after a failed attempt; attempts go on without end
 * @param alertAfter how many failures in a row are reported as {@link JobEvent.Alerted}
 * @param historyKept how many runs of each job are kept
 */
public record JobOptions(
    Owner owner,
    Duration lease,
    Duration poll,
    RetryPolicy retry,
    int alertAfter,
    int historyKept,
    TimeSource time,
    RandomGenerator random,
    Consumer<JobEvent> listener) {
  public JobOptions {
    if (lease.compareTo(Duration.ofMillis(300)) < 0 || lease.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("lease must be 300 ms to 1 hour, was " + lease);
    }
    if (poll.compareTo(Duration.ofMillis(10)) < 0 || poll.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("poll must be 10 ms to 1 hour, was " + poll);
    }
    if (alertAfter < 1) {
      throw new IllegalArgumentException("alertAfter must be at least 1, was " + alertAfter);
    }
    if (historyKept < 1) {
      throw new IllegalArgumentException("historyKept must be at least 1, was " + historyKept);
    }
  }

  /**
   * Returns the defaults: a lease of 15 s, a poll each second, retries from 5 s doubling to 5
   * minutes, an alert after 3 failures, 100 runs kept.
   */
  public static JobOptions defaults() {
    return new JobOptions(
        Owner.ofProcess("node"),
        Duration.ofSeconds(15),
        Duration.ofSeconds(1),
        RetryPolicy.endless(Duration.ofSeconds(5), Duration.ofMinutes(5)),
        3,
        100,
        TimeSource.system(),
        RandomGenerator.getDefault(),
        event -> {});
  }

  public JobOptions owner(Owner other) {
    return new JobOptions(
        other, lease, poll, retry, alertAfter, historyKept, time, random, listener);
  }

  public JobOptions lease(Duration other) {
    return new JobOptions(
        owner, other, poll, retry, alertAfter, historyKept, time, random, listener);
  }

  public JobOptions poll(Duration other) {
    return new JobOptions(
        owner, lease, other, retry, alertAfter, historyKept, time, random, listener);
  }

  public JobOptions retry(RetryPolicy other) {
    return new JobOptions(
        owner, lease, poll, other, alertAfter, historyKept, time, random, listener);
  }

  public JobOptions historyKept(int count) {
    return new JobOptions(owner, lease, poll, retry, alertAfter, count, time, random, listener);
  }

  public JobOptions time(TimeSource other) {
    return new JobOptions(
        owner, lease, poll, retry, alertAfter, historyKept, other, random, listener);
  }

  public JobOptions listener(Consumer<JobEvent> other) {
    return new JobOptions(owner, lease, poll, retry, alertAfter, historyKept, time, random, other);
  }

  /** Returns the pause before the next poll: shorter than {@link #poll}, never longer. */
  Duration nextPoll() {
    return Duration.ofNanos((long) (poll.toNanos() * (0.7 + 0.2 * random.nextDouble())));
  }

  /** Returns how long after a call was sent its lease may be trusted without another answer. */
  Duration trusted() {
    // A tenth of the lease covers clocks that run at different rates.
    return lease.multipliedBy(9).dividedBy(10);
  }
}
