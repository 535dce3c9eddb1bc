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
  private static final int AFTER_FAILURE = 2;

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

  /**
   * The most messages of the next fetch: few after a failure, because the messages behind the
   * failed one would be void again.
   */
  private int mostToFetch = Integer.MAX_VALUE;

  long leaseEnd;
  long lastHandedOut;
  boolean isLost;
  volatile boolean isClosed;

  /** Must complete before any message may be handed out. */
  CompletableFuture<?> before = CompletableFuture.completedFuture(null);

  /**
   * Creates a hold.
   *
   * @param kept where the lease is kept at first
   * @param memory counts prefetched payloads that wait for a handler
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

  /**
   * Returns whether no message was handed out since then. A session that is being given back counts
   * as moving.
   */
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

  /** Returns whether the lease has ended, as far as this process knows. */
  boolean hasLeaseEnded(long now) {
    lock.lock();
    try {
      return now - leaseEnd >= 0;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of prefetched messages that wait for the handler. */
  public int notHandedOut() {
    lock.lock();
    try {
      return fetched.size();
    } finally {
      lock.unlock();
    }
  }

  /** Returns this hold as its row must describe it. */
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
   * Continues with a lease in a row.
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

  /**
   * Adds a message that the reader has read for this session. Returns false if the hold takes no
   * more.
   */
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

  /**
   * Stops handing out messages until the database was asked, because another owner may have the
   * session.
   */
  void doubt() {
    lock.lock();
    try {
      fetched.forget();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the hold, because this process has taken the session again or has stopped reading it. */
  public void superseded() {
    lock.lock();
    try {
      lost();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Drops prefetched messages that no handler wanted for a while.
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

  /** Returns the fence that settlements of this hold use now. */
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

  /** Returns the length of the lease when the session was taken, at least. */
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

  /** Records that there may be messages that this process has not read. */
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
   * Records how much of the lease was left when the database answered a question. A renewal may
   * have given a persisted hold a longer lease than it had in memory.
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

  /**
   * Hands a failed message out again, and what was handed out behind it. The caller has the lock.
   *
   * @param isFromMemory whether memory has the message and its attempts; else its row is read
   */
  void comesAgain(long sequence, boolean isFromMemory) {
    if (isFromMemory && isInMemory()) {
      fetched.retry(sequence);
      lastHandedOut = 0; // A row that is written now must not count another attempt.
    } else {
      fetched.forget();
      fetchFew();
    }
    news.signalAll();
  }

  /** Throws if the lease is lost. The caller has the lock. */
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
