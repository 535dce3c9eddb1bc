package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one hold of a session, shared by those who receive, settle and end it. What is
 * not final or volatile is guarded by the lock.
 */
final class Hold {
  /** In place of the reader's epoch: it was claimed as a lane. */
  static final long NOT_CARRIED = 0;

  private static final int AFTER_FAILURE = 2;

  final SessionId id;
  final long epoch;

  /** The epoch of the reader that carried it; under no other one is it settled as carried. */
  final long readerEpoch;

  final long lockNanos;
  final long heldSince;
  final ReentrantLock lock = new ReentrantLock();
  final Condition news = lock.newCondition();
  final Fetched fetched;
  final InHand inHand;
  private final Runnable forget;

  /** Whether it has a lane; else it is carried. */
  volatile boolean isWritten;

  volatile Lease lease;

  /** When something was last handed out. */
  volatile long lastMoved;

  /** Once other processes use the lease too. */
  volatile @Nullable SharedLane shared;

  /**
   * How many messages a fetch reads at most: few after a failure, because the rest would be void
   * again.
   */
  private int mostToFetch = Integer.MAX_VALUE;

  long leaseEnd;
  long lastHandedOut;
  boolean isLost;
  volatile boolean isClosed;

  /** What must be over before anything is handed out. */
  CompletableFuture<?> before = CompletableFuture.completedFuture(null);

  /**
   * Begins.
   *
   * @param readerEpoch of the reader that carries it, or {@link #NOT_CARRIED}
   * @param memory where bodies are counted that no handler has yet
   * @param forget what to do when the lease turns out to be gone
   */
  Hold(
      ClaimedLane claimed,
      Instant moment,
      long askedAt,
      long readerEpoch,
      BodyMemory.Share memory,
      Runnable forget) {
    this.fetched = new Fetched(memory);
    this.id = claimed.session;
    this.lease = claimed.lease;
    this.epoch = claimed.lease.epoch();
    this.lockNanos = Duration.between(moment, claimed.lease.until()).toNanos();
    this.leaseEnd = askedAt + lockNanos;
    this.heldSince = askedAt;
    this.lastMoved = askedAt;
    this.readerEpoch = readerEpoch;
    this.isWritten = readerEpoch == NOT_CARRIED;
    this.inHand = new InHand(id);
    this.forget = forget;
  }

  /** The epoch of the reader that carries it; {@link #NOT_CARRIED} once it has a lane. */
  long carriedBy() {
    return isWritten ? NOT_CARRIED : readerEpoch;
  }

  /** How long the lease was when it was taken, at least. */
  Duration takenFor(Duration lockDuration) {
    return readerEpoch == NOT_CARRIED ? lockDuration : Duration.ofNanos(lockNanos);
  }

  CompletableFuture<?> before() {
    lock.lock();
    try {
      return before;
    } finally {
      lock.unlock();
    }
  }

  /** Something may be there that was not read. */
  void suspectMore() {
    lock.lock();
    try {
      fetched.suspectMore();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Learns how much of the lease was left when the database answered a question. A renewal may have
   * given a written-down hold a longer lease than the hold had in memory.
   */
  void leaseLasts(long askedAt, Duration left) {
    leaseEnd = Math.max(leaseEnd, askedAt + left.toNanos());
  }

  /** Returns how many messages the next fetch reads; each fetch doubles the limit. */
  int mostToFetch(int wanted) {
    int most = Math.min(wanted, mostToFetch);
    mostToFetch = mostToFetch > wanted ? mostToFetch : mostToFetch * 2;
    return most;
  }

  /** A message failed: the next fetch reads this message and the one behind it. */
  void fetchFew() {
    mostToFetch = AFTER_FAILURE;
  }

  /** The caller has the lock. */
  void requireHeld() {
    if (isLost || isClosed) {
      throw lockLost();
    }
  }

  /** It is gone; the caller has the lock. */
  KeeperException.LockLost lost() {
    isLost = true;
    fetched.clear();
    news.signalAll();
    forget.run();
    return lockLost();
  }

  private KeeperException.LockLost lockLost() {
    return new KeeperException.LockLost("session " + id, epoch);
  }
}
