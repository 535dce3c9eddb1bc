package dev.sessionkeeper.postgres;

import java.time.Duration;
import java.time.Instant;

/**
 * The lease of a process that reads a queue alone, as far as it knows. Changed by the thread of
 * rounds only.
 */
final class Reading {
  private static final int BEATS = 6;
  private static final long MOST_BYTES = 64L << 20;
  private static final long LEAST_AT_ONCE = 256;
  private static final long MOST_AT_ONCE = 65_536;

  private final long epoch;
  private final Duration lease;
  private volatile String knownTo;
  private volatile long safeUntil;
  private volatile Sight sight;
  private long beatAt;
  private long lastSequence;
  private double bytesOfOne = 1024;

  private record Sight(Instant moment, long at) {}

  Reading(ReaderTable.Begun begun, long askedAt) {
    this.epoch = begun.epoch();
    this.lease = begun.lease();
    this.knownTo = begun.knownTo();
    this.safeUntil = askedAt + lease.toNanos();
    this.beatAt = askedAt;
    this.lastSequence = begun.lastSequence();
    this.sight = new Sight(Instant.EPOCH, askedAt);
  }

  long epoch() {
    return epoch;
  }

  Duration lease() {
    return lease;
  }

  /** What has been read. */
  String knownTo() {
    return knownTo;
  }

  long lastSequence() {
    return lastSequence;
  }

  /** How many messages of the size they have had lately fit into memory. */
  long mostAtOnce() {
    return Math.clamp((long) (MOST_BYTES / bytesOfOne), LEAST_AT_ONCE, MOST_AT_ONCE);
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

  /** What time it is for the database, as far as the last look tells. */
  Instant momentAt(long now) {
    var seen = sight;
    return seen.moment.plusNanos(now - seen.at);
  }

  void read(ReaderTable.News news, long askedAt, boolean beats) {
    knownTo = news.knownTo;
    lastSequence = news.lastSequence;
    if (news.count > 0) {
      double now = (double) news.bytes / news.count;
      // Larger ones count at once, smaller ones bit by bit.
      bytesOfOne = Math.max(1, Math.max(now, bytesOfOne * 0.9 + now * 0.1));
    }
    sight = new Sight(news.moment, askedAt);
    if (beats) {
      beatAt = askedAt;
      safeUntil = askedAt + lease.toNanos();
    }
  }
}
