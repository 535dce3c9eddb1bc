package dev.sessionkeeper.postgres;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The lease of a process that reads a queue, or its part of it, as far as it knows. Changed by the
 * thread of rounds only.
 */
final class Reading {
  private static final int BEATS = 6;

  /** A session is handed out only if so much of the lease is left: it must be renewed in time. */
  private static final int LEAST_PART_LEFT = 2;

  /** Of bodies in memory that nobody has in hand. */
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
  private long beatAt;
  private long knownSequence;
  private long goalSequence;
  private boolean isFirst = true;
  private double bytesOfOne = 1024;

  /** What time it was for the database at some moment between the question and the answer. */
  private record Sight(Instant moment, long askedAt, long answeredAt) {}

  Reading(BucketAssignment begun, long askedAt) {
    this.epoch = begun.epoch();
    this.buckets = begun.buckets();
    this.lease = begun.lease();
    this.knownTo = begun.knownTo();
    this.safeUntil = askedAt + lease.toNanos();
    this.beatAt = askedAt;
    this.sight = new Sight(Instant.EPOCH, askedAt, askedAt);
  }

  long epoch() {
    return epoch;
  }

  /** The buckets whose sessions it reads. */
  long buckets() {
    return buckets;
  }

  /** Whether nobody else reads. */
  boolean isAlone() {
    return buckets == Buckets.ALL;
  }

  Duration lease() {
    return lease;
  }

  /** What has been read. */
  String knownTo() {
    return knownTo;
  }

  /** Whether not everything has been read that was there when it began. */
  boolean isFirst() {
    return isFirst;
  }

  /** The last number that was given out then. */
  long knownSequence() {
    return knownSequence;
  }

  /** Up to which snapshot is read page by page; null while everything new is read at once. */
  @Nullable String goal() {
    return goal;
  }

  /** The last number of the page before. */
  long after() {
    return after;
  }

  /** Whether everything that was there when it began has been read, and no page is left. */
  boolean isCurrent() {
    return !isFirst && goal == null;
  }

  boolean isInPages() {
    return goal != null;
  }

  /** How many messages of the size they have had lately fit into memory. */
  int mostInMemory() {
    return (int) Math.clamp((long) (MOST_BYTES / bytesOfOne), LEAST_IN_MEMORY, MOST_IN_MEMORY);
  }

  Duration beatEvery() {
    return lease.dividedBy(BEATS);
  }

  boolean isBeatDue(long now) {
    return now - beatAt >= beatEvery().toNanos();
  }

  /** Whether nobody can have taken over: counted from before the heartbeat was sent. */
  boolean isSafe(long now) {
    return safeUntil - now > 0;
  }

  /** How much of the lease is left: a session that is handed out now has no more. */
  Duration left(long now) {
    return Duration.ofNanos(safeUntil - now);
  }

  /** Returns whether enough of the lease is left for a session that is handed out now. */
  boolean isEnoughLeft(long now) {
    return safeUntil - now >= lease.toNanos() / LEAST_PART_LEFT;
  }

  /** What time it is for the database, at the latest, as far as the last look tells. */
  Instant momentAt(long now) {
    var seen = sight;
    return seen.moment.plusNanos(now - seen.askedAt);
  }

  /** What time it is for the database, at the earliest: leases that are told count from here. */
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
      // Larger ones count at once, smaller ones bit by bit.
      bytesOfOne = Math.max(1, Math.max(now, bytesOfOne * 0.9 + now * 0.1));
    }
    sight = new Sight(news.summary.moment(), askedAt, answeredAt);
    if (beats) {
      beatAt = askedAt;
      safeUntil = askedAt + lease.toNanos();
    }
  }
}
