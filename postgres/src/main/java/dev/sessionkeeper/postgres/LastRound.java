package dev.sessionkeeper.postgres;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the last round of a queue saw and left, and whether that is still as good as new. */
final class LastRound {
  private static final long RECENT_NANOS = Duration.ofMillis(5).toNanos();
  private static final long CURRENT_NANOS = Duration.ofMillis(20).toNanos();

  private final TimeSource time;
  private volatile boolean areSendersHeldUp;
  private volatile boolean isReadyLeft;
  private volatile boolean areBundlesLeft;
  private volatile @Nullable String readBy;
  private volatile long began;
  private volatile long knownFrom;
  private volatile long changedAt;

  LastRound(TimeSource time) {
    this.time = time;
    this.changedAt = time.nanoTime();
    this.began = changedAt - CURRENT_NANOS;
    this.knownFrom = began;
  }

  /** Something was sent by this process. */
  void changed() {
    changedAt = time.nanoTime();
  }

  void areSendersHeldUp(boolean areHeldUp) {
    areSendersHeldUp = areHeldUp;
  }

  /** While they are, rounds make room for them: they are fewer and larger. */
  boolean areSendersHeldUp() {
    return areSendersHeldUp && time.nanoTime() - changedAt < CURRENT_NANOS;
  }

  /** A round begins to look. */
  long begins() {
    long now = time.nanoTime();
    began = now;
    return now;
  }

  /** What a round that claimed lanes left. */
  void claimed(PollSummary summary) {
    isReadyLeft = summary.left().areReady();
    readBy = summary.reader().orElse(null);
    areBundlesLeft = summary.left().areBatches();
  }

  /** A round has read everything that is new. */
  void read() {
    areBundlesLeft = false;
  }

  /** Everybody who has news has been told of what a round that began then found. */
  void told(long begunAt) {
    knownFrom = begunAt;
  }

  /** Whether sessions are left that nobody has. */
  void isReadyLeft(boolean isLeft) {
    isReadyLeft = isLeft;
  }

  /** Whether what it saw is as good as new. */
  boolean isRecent() {
    return began - changedAt > 0 && time.nanoTime() - began < RECENT_NANOS;
  }

  /** Whether it saw everything that this process sent or was told of. */
  boolean isCurrent() {
    return !areBundlesLeft
        && knownFrom - changedAt > 0
        && time.nanoTime() - knownFrom < CURRENT_NANOS;
  }

  /** Whether it left sessions that nobody has. */
  boolean isReadyLeft() {
    return isReadyLeft;
  }

  /** Whether it left messages that it did not look at. */
  boolean areBundlesLeft() {
    return areBundlesLeft;
  }

  /** The process that reads this queue alone. */
  Optional<String> readBy() {
    return Optional.ofNullable(readBy);
  }
}
