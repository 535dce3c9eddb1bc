package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.postgres.batch.Buckets;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The lease under which this process reads its buckets, as far as this process knows. Only the
 * thread of polls changes it.
 */
public final class ReaderLease {
  private static final int HEARTBEATS = 6;

  /**
   * The part of the reader's lease that must be left to hand a session out, so that the session can
   * be renewed in time.
   */
  private static final int LEAST_PART_LEFT = 2;

  /** The most bytes of payloads in memory that were not handed out. */
  static final long MOST_BYTES = 64L << 20;

  private static final long LEAST_IN_MEMORY = 256;
  private static final long MOST_IN_MEMORY = 65_536;

  private final long epoch;
  private final long buckets;
  private final Duration lease;
  private volatile String knownTo;
  private volatile @Nullable String goal;
  private long after;
  private volatile long safeUntil;
  private volatile Sight sight;
  private long heartbeatAt;
  private long knownSequence;
  private long goalSequence;
  private boolean isFirst = true;
  private double bytesOfOne = 1024;

  /** The database's time at an unknown moment between a question and its answer. */
  private record Sight(Instant moment, long askedAt, long answeredAt) {}

  ReaderLease(BucketAssignment begun, long askedAt) {
    this.epoch = begun.epoch();
    this.buckets = begun.buckets();
    this.lease = begun.lease();
    this.knownTo = begun.knownTo();
    this.safeUntil = askedAt + lease.toNanos();
    this.heartbeatAt = askedAt;
    this.sight = new Sight(Instant.EPOCH, askedAt, askedAt);
  }

  long epoch() {
    return epoch;
  }

  /** Returns the buckets that this process reads. */
  long buckets() {
    return buckets;
  }

  /** Returns whether no other process reads. */
  boolean isAlone() {
    return buckets == Buckets.ALL;
  }

  Duration lease() {
    return lease;
  }

  /** Returns the snapshot up to which this process has read. */
  String knownTo() {
    return knownTo;
  }

  /** Returns whether messages are left that were there when the reading began. */
  boolean isFirst() {
    return isFirst;
  }

  /** Returns the last sequence number that was assigned at the beginning. */
  long knownSequence() {
    return knownSequence;
  }

  /**
   * Returns the snapshot up to which is read page by page; null while all new messages are read at
   * once.
   */
  @Nullable String goal() {
    return goal;
  }

  /** Returns the last sequence number of the previous page. */
  long after() {
    return after;
  }

  /**
   * Returns whether all messages were read that were there when the reading began, and no page is
   * left.
   */
  boolean isCurrent() {
    return !isFirst && goal == null;
  }

  boolean isInPages() {
    return goal != null;
  }

  /** Returns how many messages of their recent size fit into memory. */
  int mostInMemory() {
    return (int) Math.clamp((long) (MOST_BYTES / bytesOfOne), LEAST_IN_MEMORY, MOST_IN_MEMORY);
  }

  Duration heartbeatEvery() {
    return lease.dividedBy(HEARTBEATS);
  }

  boolean isHeartbeatDue(long now) {
    return now - heartbeatAt >= heartbeatEvery().toNanos();
  }

  /**
   * Returns whether no other process can have taken over: the lease counts from before the
   * heartbeat was sent.
   */
  boolean isSafe(long now) {
    return safeUntil - now > 0;
  }

  /**
   * Returns the remaining time of the lease. A session that is delivered now gets a lease no longer
   * than that.
   */
  Duration left(long now) {
    return Duration.ofNanos(safeUntil - now);
  }

  /** Returns whether enough of the lease remains to deliver a session. */
  boolean isEnoughLeft(long now) {
    return safeUntil - now >= lease.toNanos() / LEAST_PART_LEFT;
  }

  /** Returns the latest time that the database's clock may show now. */
  Instant momentAt(long now) {
    var seen = sight;
    return seen.moment.plusNanos(now - seen.askedAt);
  }

  /**
   * Returns the earliest time that the database's clock may show now: leases told to handlers count
   * from it.
   */
  Instant earliestMomentAt(long now) {
    var seen = sight;
    return seen.moment.plusNanos(now - seen.answeredAt);
  }

  void read(ReadResult news, long askedAt, long answeredAt, boolean beats) {
    if (goal == null) {
      goalSequence = news.summary.lastSequence();
    }
    if (news.known.moreAfter().isPresent()) {
      goal = news.known.snapshot();
      after = news.known.moreAfter().get();
    } else {
      goal = null;
      after = 0;
      isFirst = false;
      knownTo = news.known.snapshot();
      knownSequence = goalSequence;
    }
    if (news.count > 0) {
      double now = (double) news.bytes / news.count;
      // Larger messages count at once, smaller ones gradually.
      bytesOfOne = Math.max(1, Math.max(now, bytesOfOne * 0.9 + now * 0.1));
    }
    sight = new Sight(news.summary.moment(), askedAt, answeredAt);
    if (beats) {
      heartbeatAt = askedAt;
      safeUntil = askedAt + lease.toNanos();
    }
  }
}
