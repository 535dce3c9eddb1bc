package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A session that this process took: it knows what is in hand without asking the database.
 *
 * <p>The database decides about the lease; here is only kept what was read under it. Messages come
 * with the claim, or by a fetch when something is known, or may be suspected, to be there. I1: a
 * message that was in hand when a fetch was sent is not taken from its answer, so none is handed
 * out twice. I2: what was read longer ago than {@link Fetched#FRESH_NANOS} is read again under the
 * fence before it is handed out. I3: once the lease is shared with other processes, everything goes
 * through {@link SharedLane}.
 */
final class HeldLane implements HeldSession {
  private final OrderedQueue queue;
  private final TimeSource time;
  private final SessionId id;
  private final long epoch;
  private final long lockNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Fetched fetched = new Fetched();
  private final InHand inHand;
  private final SettleLane settling;
  private final long heldSince;
  private volatile boolean isWritten;
  private volatile Lease lease;
  private long leaseEnd;
  private long lastHandedOut;
  private boolean isLost;
  private boolean isClosed;
  private CompletableFuture<?> before = CompletableFuture.completedFuture(null);
  private volatile @Nullable SharedLane shared;

  HeldLane(OrderedQueue queue, ClaimedLane claimed, Instant moment, long askedAt, int batch) {
    this(queue, claimed, moment, askedAt, true);
    if (claimed.messages.size() >= batch) {
      fetched.suspectMore();
    }
  }

  /** A session that is carried: everything that is known of it comes without being asked for. */
  static HeldLane carried(OrderedQueue queue, ClaimedLane claimed, Instant moment, long now) {
    return new HeldLane(queue, claimed, moment, now, false);
  }

  private HeldLane(
      OrderedQueue queue, ClaimedLane claimed, Instant moment, long askedAt, boolean isWritten) {
    this.queue = queue;
    this.isWritten = isWritten;
    this.heldSince = askedAt;
    this.time = queue.time();
    this.id = claimed.session;
    this.lease = claimed.lease;
    this.epoch = lease.epoch();
    this.inHand = new InHand(id);
    this.lockNanos = Duration.between(moment, lease.until()).toNanos();
    this.leaseEnd = askedAt + lockNanos;
    this.settling = new SettleLane(queue, id, epoch, inHand, lock, this::lost, () -> !this.isWritten);
    fetched.beginRead(askedAt);
    settling.expire(fetched.take(claimed.messages, moment, askedAt));
  }

  /** Whether there is anything to do in it, as far as is known. */
  boolean isWorthServing() {
    return !fetched.isEmpty();
  }

  /** Nobody wants it after all. */
  void giveBackUnused() {
    queue.forget(this);
    if (isWritten || !release(endReceiving())) {
      var unused = queue.settles().free(id, epoch);
    }
  }

  /** Whether it has a lane; else it is carried. */
  boolean isWritten() {
    return isWritten;
  }

  long heldSince() {
    return heldSince;
  }

  /** Lets it have a lane, for what only lanes can do. */
  void requireLane() {
    if (!isWritten) {
      queue.alone().writeDown(this);
    }
  }

  /** As it is written down. */
  ReaderTable.Line line() {
    lock.lock();
    try {
      var left = Duration.ofNanos(Math.max(0, leaseEnd - time.nanoTime()));
      return new ReaderTable.Line(id, epoch, lease.owner().name(), left, lastHandedOut);
    } finally {
      lock.unlock();
    }
  }

  /** It has a lane now, and is read as one. */
  void written() {
    lock.lock();
    try {
      isWritten = true;
      fetched.forget();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** A message has come for it; false when it takes no more. */
  boolean feed(ClaimedLane.Found found) {
    lock.lock();
    try {
      if (isClosed || isLost || isWritten) {
        return false;
      }
      fetched.feed(found.delivery());
      news.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** What was never handed out. */
  private List<ClaimedLane.Found> endReceiving() {
    lock.lock();
    try {
      isClosed = true;
      news.signalAll();
      return fetched.takeAll();
    } finally {
      lock.unlock();
    }
  }

  private boolean release(List<ClaimedLane.Found> leftover) {
    boolean isClean;
    lock.lock();
    try {
      isClean = inHand.size() == 0;
    } finally {
      lock.unlock();
    }
    boolean isDone = queue.alone().release(this, leftover, isClean);
    queue.claims().serveCarried();
    return isDone;
  }

  @Override
  public SessionId id() {
    return id;
  }

  @Override
  public Lease lease() {
    return lease;
  }

  long epoch() {
    return epoch;
  }

  /** New messages have come for it. */
  void tellNews() {
    lock.lock();
    try {
      fetched.suspectMore();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Somebody may have taken it: nothing is handed out before the database was asked. */
  void doubt() {
    lock.lock();
    try {
      fetched.forget();
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** This process has taken the session again, so the lease of this hold is gone. */
  void superseded() {
    lock.lock();
    try {
      lost();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether its first messages were fetched but nobody wanted them for a while; then they are not
   * in hand, and the caller says so to the database.
   */
  boolean dropUnreceived(long now, CompletableFuture<?> said) {
    lock.lock();
    try {
      if (isClosed || isLost || !isWritten || !fetched.dropUnreceived(now)) {
        return false;
      }
      before = said;
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    if (max < 1) {
      throw new IllegalArgumentException("max must be at least 1, was " + max);
    }
    long deadline = time.nanoTime() + Math.min(wait.toNanos(), Long.MAX_VALUE / 4);
    boolean hasLooked = false;
    while (true) {
      var other = shared;
      if (other != null) {
        return other.receive(max, Duration.ofNanos(Math.max(0, deadline - time.nanoTime())), false);
      }
      Waits.quietly(before());
      long now = time.nanoTime();
      if (!isWritten && !queue.alone().isSafe(now)) {
        // Either the lease of the reader is extended, or this one is lost.
        Waits.join(queue.claims().join());
        now = time.nanoTime();
      }
      boolean look;
      lock.lock();
      try {
        requireHeld();
        var batch = handOut(max, now);
        if (!batch.isEmpty()) {
          return batch;
        }
        // Who does not wait joins a round, which costs less than a look of its own.
        look =
            isWritten
                && (fetched.mayHaveMore() || (hasLooked && now - fetched.lookAgainAt() >= 0));
      } finally {
        lock.unlock();
      }
      if (look) {
        if (fetch(max)) {
          continue;
        }
        hasLooked = true;
      } else if (!hasLooked) {
        hasLooked = true;
        if (!queue.claims().isCurrent()) {
          // A round that begins now discovers everything whose send has returned.
          Waits.join(queue.claims().join());
          continue;
        }
      }
      if (!awaitNews(deadline)) {
        return List.of();
      }
    }
  }

  private CompletableFuture<?> before() {
    lock.lock();
    try {
      return before;
    } finally {
      lock.unlock();
    }
  }

  private List<Delivery> handOut(int max, long now) {
    if (!isWritten && !queue.alone().isSafe(now)) {
      return List.of();
    }
    if (isWritten && now - leaseEnd >= 0 && !fetched.isEmpty()) {
      fetched.forget();
    }
    var batch = fetched.handOut(max, now, isWritten);
    for (var delivery : batch) {
      inHand.add(delivery.sequence());
      lastHandedOut = Math.max(lastHandedOut, delivery.sequence());
    }
    return batch;
  }

  /** Reads what is there; whether something was found. */
  private boolean fetch(int max) {
    long askedAt = time.nanoTime();
    int most;
    Set<Long> known;
    lock.lock();
    try {
      known = inHand.all();
      most = Math.max(max, queue.batch()) + known.size();
      fetched.beginRead(askedAt);
    } finally {
      lock.unlock();
    }
    FetchMessages.Fetched answer;
    try {
      answer = Waits.join(queue.fetches().fetch(id, epoch, most));
    } catch (RuntimeException e) {
      tellNews();
      throw e;
    }
    lock.lock();
    try {
      if (!answer.isHeld()) {
        throw lost();
      }
      fetched.received();
      if (answer.messages().size() >= most) {
        fetched.suspectMore();
      }
      var found =
          answer.messages().stream()
              .filter(next -> !known.contains(next.delivery().sequence()))
              .toList();
      settling.expire(fetched.take(found, answer.moment(), askedAt));
      return !fetched.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** False when the time is up. */
  private boolean awaitNews(long deadline) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      queue.receiverWaits(1);
      fetched.beginWait(time.nanoTime());
      while (fetched.isEmpty()
          && !fetched.mayHaveMore()
          && !isLost
          && !isClosed
          && shared == null) {
        long now = time.nanoTime();
        if (deadline - now <= 0) {
          return false;
        }
        long look = isWritten ? fetched.lookAgainAt() - now : Long.MAX_VALUE;
        if (look <= 0) {
          return true;
        }
        news.awaitNanos(Math.min(deadline - now, look));
      }
      return true;
    } finally {
      queue.receiverWaits(-1);
      lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return settle(settlements, Optional.empty());
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    return settle(settlements, Optional.of(state));
  }

  private CompletionStage<Void> settle(
      List<Settled> settlements, Optional<SessionState.Write> state) {
    var other = shared;
    if (other != null) {
      return other.settle(settlements, state);
    }
    if (!isWritten && !SettleLane.areCompletions(settlements, state)) {
      try {
        requireLane();
      } catch (KeeperException e) {
        return CompletableFuture.failedFuture(e);
      }
    }
    lock.lock();
    try {
      requireHeld();
      var finished = settling.send(settlements, state);
      if (!settlements.isEmpty()
          && InHand.stopsTheSession(settlements.get(settlements.size() - 1).settlement())) {
        // Void: it comes again, behind the message that is tried again.
        fetched.forget();
        before = finished;
      }
      return finished;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lock.unlock();
    }
  }

  /** How it is settled, for who does that in a transaction of its own. */
  SettleLane settling() {
    return settling;
  }

  @Override
  public Lease renew() {
    requireLane();
    long askedAt = time.nanoTime();
    var until = Waits.join(queue.renewals().renew(id, epoch));
    lock.lock();
    try {
      if (until.isEmpty()) {
        throw lost();
      }
      leaseEnd = askedAt + lockNanos;
      lease = lease.until(until.get());
      return lease;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public SessionState state() {
    requireLane();
    return new StateTable(queue).read(id, epoch);
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    requireLane();
    return new StateTable(queue).write(id, epoch, write);
  }

  /**
   * Hands the lease over to the database, for handles of other processes; this one goes through it
   * from now on too, and the end of this process does not end it. Empty when it is lost.
   */
  Optional<SharedLane> share() {
    requireLane();
    Waits.quietly(before());
    lock.lock();
    try {
      if (shared != null) {
        return Optional.of(shared);
      }
      fetched.clear();
      // From here on the database knows what is in hand: nothing of it is to be dropped later.
      fetched.received();
      var other = SharedLane.of(queue, lease);
      if (!other.putInHand(inHand.open())) {
        return Optional.empty();
      }
      shared = other;
      queue.forget(this);
      news.signalAll();
      return Optional.of(other);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (isClosed) {
        return;
      }
      isClosed = true;
      news.signalAll();
      if (isLost) {
        return;
      }
    } finally {
      lock.unlock();
    }
    queue.forget(this);
    try {
      if (!isWritten) {
        // Behind its settlements; whoever sent one that failed was told.
        Waits.quietly(queue.settles().free(id, epoch, () -> !isWritten));
        if (release(endReceiving())) {
          return;
        }
      }
      Waits.join(queue.settles().free(id, epoch));
    } catch (KeeperException.LockLost e) {
      // Somebody else has it, which is what closing is for.
    }
  }

  @Override
  public boolean mayHaveMore() {
    lock.lock();
    try {
      return shared != null || isLost || !fetched.isEmpty() || fetched.mayHaveMore();
    } finally {
      lock.unlock();
    }
  }

  /** Both go through the same groups, in order. */
  @Override
  public boolean closesBehindSettlements() {
    return true;
  }

  private void requireHeld() {
    if (isLost || isClosed) {
      throw new KeeperException.LockLost("session " + id, epoch);
    }
  }

  private KeeperException.LockLost lost() {
    isLost = true;
    fetched.clear();
    news.signalAll();
    queue.forget(this);
    return new KeeperException.LockLost("session " + id, epoch);
  }
}
