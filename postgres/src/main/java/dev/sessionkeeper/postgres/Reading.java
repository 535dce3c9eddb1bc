package dev.sessionkeeper.postgres;

import java.time.Duration;
import java.time.Instant;

/**
 * The lease of a process that reads a queue alone, as far as it knows. Changed by the thread of
 * rounds only.
 */
final class Reading {
  private static final int BEATS = 6;

  private final long epoch;
  private final Duration lease;
  private volatile String knownTo;
  private volatile long safeUntil;
  private volatile Sight sight;
  private long beatAt;

  private record Sight(Instant moment, long at) {}

  Reading(ReaderTable.Begun begun, long askedAt) {
    this.epoch = begun.epoch();
    this.lease = begun.lease();
    this.knownTo = begun.knownTo();
    this.safeUntil = askedAt + lease.toNanos();
    this.beatAt = askedAt;
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
    sight = new Sight(news.moment, askedAt);
    if (beats) {
      beatAt = askedAt;
      safeUntil = askedAt + lease.toNanos();
    }
  }
}
