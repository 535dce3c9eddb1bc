package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What is known of one hold of a session, shared by those who receive, settle and end it. What is
 * not final or volatile is guarded by the lock.
 */
final class Hold {
  final SessionId id;
  final long epoch;

  final long lockNanos;
  final long heldSince;
  final ReentrantLock lock = new ReentrantLock();
  final Condition news = lock.newCondition();
  final Fetched fetched;
  final InHand inHand;
  private final boolean isTakenInRow;
  private final Runnable forget;

  /** Where the lease is kept. */
  volatile SessionLease kept;

  volatile Lease lease;

  /** When something was last handed out. */
  volatile long lastMoved;

  long leaseEnd;
  long lastHandedOut;
  boolean isLost;
  volatile boolean isClosed;

  /** What must be over before anything is handed out. */
  CompletableFuture<?> before = CompletableFuture.completedFuture(null);

  /**
   * Begins.
   *
   * @param kept where the lease is kept at first
   * @param memory where bodies are counted that no handler has yet
   * @param forget what to do when the lease turns out to be gone
   */
  Hold(
      ClaimedLane claimed,
      Instant moment,
      long askedAt,
      SessionLease kept,
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
    this.kept = kept;
    this.isTakenInRow = !(kept instanceof SessionLease.InMemory);
    this.inHand = new InHand(id);
    this.forget = forget;
  }

  /** Returns what settlements are fenced by now. */
  Fence fence() {
    return kept.fence();
  }

  /** Returns whether the lease is still in memory. */
  boolean isInMemory() {
    return kept instanceof SessionLease.InMemory;
  }

  /** Returns the session as other processes see it; empty while only this process uses it. */
  Optional<SharedLane> shared() {
    return kept instanceof SessionLease.Shared to ? Optional.of(to.session()) : Optional.empty();
  }

  /** How long the lease was when it was taken, at least. */
  Duration takenFor(Duration lockDuration) {
    return isTakenInRow ? lockDuration : Duration.ofNanos(lockNanos);
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
