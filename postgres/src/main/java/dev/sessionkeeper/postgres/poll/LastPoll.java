package dev.sessionkeeper.postgres.poll;

import dev.sessionkeeper.postgres.row.PollSummary;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The result of the last poll of a queue, and whether it is still current. */
public final class LastPoll {
  private static final long RECENT_NANOS = Duration.ofMillis(5).toNanos();
  private static final long CURRENT_NANOS = Duration.ofMillis(20).toNanos();

  private final TimeSource time;
  private volatile boolean areSendersHeldUp;
  private volatile boolean isReadyLeft;
  private volatile boolean areBatchesLeft;
  private volatile @Nullable String readBy;
  private volatile long began;
  private volatile long knownFrom;
  private volatile long changedAt;

  public LastPoll(TimeSource time) {
    this.time = time;
    this.changedAt = time.nanoTime();
    this.began = changedAt - CURRENT_NANOS;
    this.knownFrom = began;
  }

  /** Records that messages may have come. */
  public void changed() {
    changedAt = time.nanoTime();
  }

  public void areSendersHeldUp(boolean areHeldUp) {
    areSendersHeldUp = areHeldUp;
  }

  /** Returns whether senders send as fast as they are answered. Polls are then fewer and larger. */
  public boolean areSendersHeldUp() {
    return areSendersHeldUp && time.nanoTime() - changedAt < CURRENT_NANOS;
  }

  /** Records that a poll begins. */
  public long begins() {
    long now = time.nanoTime();
    began = now;
    return now;
  }

  /** Records the result of a poll of sessions with rows. */
  public void claimed(PollSummary summary) {
    isReadyLeft = summary.left().areReady();
    readBy = summary.reader().orElse(null);
    areBatchesLeft = summary.left().areBatches();
  }

  /** Records that a reader has read all new messages. */
  public void read() {
    areBatchesLeft = false;
  }

  /** Records that all holders of sessions know the news of the poll that began then. */
  public void told(long begunAt) {
    knownFrom = begunAt;
  }

  /** Records whether ready sessions are left. */
  public void isReadyLeft(boolean isLeft) {
    isReadyLeft = isLeft;
  }

  /** Returns whether another poll would have the same result. */
  public boolean isRecent() {
    return began - changedAt > 0 && time.nanoTime() - began < RECENT_NANOS;
  }

  /** Returns whether the last poll saw everything that this process sent or was told of. */
  public boolean isCurrent() {
    return !areBatchesLeft
        && knownFrom - changedAt > 0
        && time.nanoTime() - knownFrom < CURRENT_NANOS;
  }

  /** Returns whether the last poll left ready sessions. */
  public boolean isReadyLeft() {
    return isReadyLeft;
  }

  /** Returns whether the last poll left batches that it did not search. */
  public boolean areBatchesLeft() {
    return areBatchesLeft;
  }

  /** Returns a process that reads this queue. */
  public Optional<String> readBy() {
    return Optional.ofNullable(readBy);
  }
}
