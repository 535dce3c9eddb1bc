package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.prefetch.PrefetchBudget;
import dev.sessionkeeper.postgres.prefetch.PrefetchedMessages;
import dev.sessionkeeper.postgres.row.ClaimedSession;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.settle.Fence;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The state of one hold of a session, shared by the classes that receive, settle and end it. What
 * is not final or volatile is guarded by the lock.
 */
public final class Hold {
  final SessionId id;
  final long epoch;

  final long lockNanos;
  final long heldSince;
  final ReentrantLock lock = new ReentrantLock();
  final Condition news = lock.newCondition();
  final PrefetchedMessages fetched;
  final OpenDeliveries deliveries;
  private final boolean isTakenInRow;
  private final Runnable forget;

  /** Where the lease is kept. */
  volatile SessionLease kept;

  volatile Lease lease;

  /** When a message was last handed out. */
  volatile long lastMoved;

  long leaseEnd;
  long lastHandedOut;
  boolean isLost;
  volatile boolean isClosed;

  /** Completes before anything may be handed out. */
  CompletableFuture<?> before = CompletableFuture.completedFuture(null);

  /**
   * Begins.
   *
   * @param kept where the lease is kept at first
   * @param memory counts payloads that no handler has yet
   * @param forget runs when the lease turns out to be lost
   */
  Hold(
      ClaimedSession claimed,
      Instant moment,
      long askedAt,
      SessionLease kept,
      PrefetchBudget.Share memory,
      Runnable forget) {
    this.fetched = new PrefetchedMessages(memory);
    this.id = claimed.session;
    this.lease = claimed.lease;
    this.epoch = claimed.lease.epoch();
    this.lockNanos = Duration.between(moment, claimed.lease.until()).toNanos();
    this.leaseEnd = askedAt + lockNanos;
    this.heldSince = askedAt;
    this.lastMoved = askedAt;
    this.kept = kept;
    this.isTakenInRow = !(kept instanceof SessionLease.InMemory);
    this.deliveries = new OpenDeliveries(id);
    this.forget = forget;
  }

  /** Returns the session. */
  public SessionId id() {
    return id;
  }

  /** Returns the lease, as far as this process knows it. */
  public Lease lease() {
    return lease;
  }

  public long heldSince() {
    return heldSince;
  }

  /** Returns when a message was last handed out. */
  public long lastMoved() {
    return lastMoved;
  }

  /** Returns whether no message was handed out since then. A session on its way back moves. */
  public boolean isQuietSince(long then) {
    return !isClosed && lastMoved - then < 0;
  }

  /** Returns whether the session was given back, or its lease has ended. */
  public boolean isOver(long now) {
    lock.lock();
    try {
      return isClosed || now - leaseEnd >= 0;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many messages are in memory that no handler has. */
  public int notHandedOut() {
    lock.lock();
    try {
      return fetched.size();
    } finally {
      lock.unlock();
    }
  }

  /** Returns what a row must say of this hold. */
  public HoldSnapshot snapshot(long now) {
    lock.lock();
    try {
      var left = Duration.ofNanos(Math.max(0, leaseEnd - now));
      return new HoldSnapshot(id, epoch, lease.owner().name(), left, lastHandedOut);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Goes on with a lease in a row.
   *
   * @param end when the lease ends; null if that is not known
   */
  public void persisted(@Nullable Instant end) {
    lock.lock();
    try {
      if (end != null) {
        lease = lease.until(end);
      }
      if (isInMemory()) {
        kept = new SessionLease.InRow();
      }
      fetched.forget();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Takes a message that was read for it. Returns false if the hold takes no more. */
  public boolean feed(FoundMessage found) {
    lock.lock();
    try {
      if (isClosed || isLost || !isInMemory()) {
        return false;
      }
      fetched.feed(found);
      news.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Hands out nothing more before the database was asked: another owner may have the session. */
  void doubt() {
    lock.lock();
    try {
      fetched.forget();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the hold, because this process has taken the session again or reads it no more. */
  public void superseded() {
    lock.lock();
    try {
      lost();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Drops messages that came with the session and that no handler wanted for a while.
   *
   * @param said completes when the database knows
   * @return whether there were any; then the caller tells the database
   */
  boolean dropUnreceived(long now, CompletableFuture<?> said) {
    lock.lock();
    try {
      if (isClosed || isLost || isInMemory() || !fetched.dropUnreceived(now)) {
        return false;
      }
      before = said;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends receiving, and returns the messages that were never handed out. */
  List<FoundMessage> endReceiving() {
    lock.lock();
    try {
      isClosed = true;
      news.signalAll();
      return fetched.takeAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether no delivery is open. */
  boolean isClean() {
    lock.lock();
    try {
      return deliveries.size() == 0;
    } finally {
      lock.unlock();
    }
  }

  /** Returns what settlements are fenced by now. */
  Fence fence() {
    return kept.fence();
  }

  /** Returns whether the lease is still in memory. */
  public boolean isInMemory() {
    return kept instanceof SessionLease.InMemory;
  }

  /** Returns the session as other processes see it; empty while only this process uses it. */
  Optional<SharedSession> shared() {
    return kept instanceof SessionLease.Shared to ? Optional.of(to.session()) : Optional.empty();
  }

  /** Returns how long the lease was when the session was taken, at least. */
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

  /** Records that there may be messages that were not read. */
  void suspectMore() {
    lock.lock();
    try {
      fetched.suspectMore();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Checks that the lease is held. The caller has the lock. */
  void requireHeld() {
    if (isLost || isClosed) {
      throw lockLost();
    }
  }

  /** Records that the lease is lost. The caller has the lock. */
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
