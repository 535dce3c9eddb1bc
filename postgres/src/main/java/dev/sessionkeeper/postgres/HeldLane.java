package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
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
 * out twice. I2: what was read longer ago than {@link #FRESH_NANOS} is read again under the fence
 * before it is handed out. I3: once the lease is shared with other processes, everything goes
 * through {@link SharedLane}.
 */
final class HeldLane implements HeldSession {
  static final long FRESH_NANOS = Duration.ofMillis(250).toNanos();

  /** A message that came in the very moment of the claim is found this soon by who waits. */
  private static final long LOOK_AFTER_CLAIM_NANOS = Duration.ofMillis(20).toNanos();

  private static final long POLL_NANOS = Duration.ofSeconds(1).toNanos();

  private final OrderedQueue queue;
  private final TimeSource time;
  private final SessionId id;
  private final long epoch;
  private final long lockNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final ArrayDeque<Delivery> fetched = new ArrayDeque<>();
  private final InHand inHand;
  private volatile Lease lease;
  private long leaseEnd;
  private long fetchedAt;
  private long lookAgainAt;
  private boolean mayHaveMore;
  private boolean isReceived;
  private boolean hasWaited;
  private boolean isLost;
  private boolean isClosed;
  private final Set<Settled> settledAlready = new HashSet<>();
  private CompletableFuture<?> lastSettled = CompletableFuture.completedFuture(null);
  private CompletableFuture<?> before = CompletableFuture.completedFuture(null);
  private volatile @Nullable SharedLane shared;

  HeldLane(OrderedQueue queue, ClaimedLane claimed, Instant moment, long askedAt, int batch) {
    this.queue = queue;
    this.time = queue.time();
    this.id = claimed.session;
    this.lease = claimed.lease;
    this.epoch = lease.epoch();
    this.inHand = new InHand(id);
    this.lockNanos = Duration.between(moment, lease.until()).toNanos();
    this.leaseEnd = askedAt + lockNanos;
    this.lookAgainAt = askedAt + POLL_NANOS;
    take(claimed.messages, moment, askedAt);
    this.mayHaveMore = claimed.messages.size() >= batch;
  }

  /** Takes what may be handed out of what was found; what is too old is set aside. */
  private void take(List<ClaimedLane.Found> found, Instant moment, long readAt) {
    fetchedAt = readAt;
    var old = new ArrayList<Settled>();
    for (var next : found) {
      if (next.isExpired()) {
        inHand.settleUnseen(next.delivery().sequence());
        old.add(new Settled(next.delivery().sequence(), Settlement.complete()));
      } else if (next.dueAt().isPresent() && next.dueAt().get().isAfter(moment)) {
        lookAgainAt = readAt + Duration.between(moment, next.dueAt().get()).toNanos();
        break;
      } else {
        fetched.add(next.delivery());
      }
    }
    if (!old.isEmpty()) {
      var unused =
          queue
              .settles()
              .settle(SettleCall.expired(id, epoch, old))
              .whenComplete((done, error) -> finish(old, error));
    }
  }

  /** Whether there is anything to do in it, as far as is known. */
  boolean isWorthServing() {
    return !fetched.isEmpty();
  }

  /** Nobody wants it after all. */
  void giveBackUnused() {
    queue.forget(this);
    var unused = queue.settles().free(id, epoch);
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
      mayHaveMore = true;
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Somebody may have taken it: nothing is handed out before the database was asked. */
  void doubt() {
    lock.lock();
    try {
      fetched.clear();
      mayHaveMore = true;
      news.signalAll();
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
      if (isReceived || isClosed || isLost || now - fetchedAt < FRESH_NANOS) {
        return false;
      }
      isReceived = true;
      fetched.clear();
      mayHaveMore = true;
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
      boolean look;
      lock.lock();
      try {
        requireHeld();
        var batch = handOut(max, now);
        if (!batch.isEmpty()) {
          return batch;
        }
        // Who does not wait joins a round, which costs less than a look of its own.
        look = mayHaveMore || (hasLooked && now - lookAgainAt >= 0);
      } finally {
        lock.unlock();
      }
      if (look) {
        if (fetch(max)) {
          continue;
        }
        hasLooked = true;
      } else if (!hasLooked) {
        // A round that begins now discovers everything whose send has returned.
        Waits.join(queue.claims().join());
        hasLooked = true;
        continue;
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
    if (fetched.isEmpty()) {
      return List.of();
    }
    if (now - fetchedAt > FRESH_NANOS || now - leaseEnd >= 0) {
      fetched.clear();
      mayHaveMore = true;
      return List.of();
    }
    isReceived = true;
    var batch = new ArrayList<Delivery>(Math.min(max, fetched.size()));
    while (batch.size() < max && !fetched.isEmpty()) {
      var delivery = fetched.removeFirst();
      inHand.add(delivery.sequence());
      batch.add(delivery);
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
      mayHaveMore = false;
      lookAgainAt = askedAt + POLL_NANOS;
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
      isReceived = true;
      mayHaveMore |= answer.messages().size() >= most;
      take(
          answer.messages().stream()
              .filter(found -> !known.contains(found.delivery().sequence()))
              .toList(),
          answer.moment(),
          askedAt);
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
      if (!hasWaited) {
        hasWaited = true;
        lookAgainAt = Math.min(lookAgainAt, time.nanoTime() + LOOK_AFTER_CLAIM_NANOS);
      }
      while (!mayHaveMore && !isLost && !isClosed && shared == null) {
        long now = time.nanoTime();
        if (deadline - now <= 0) {
          return false;
        }
        if (lookAgainAt - now <= 0) {
          return true;
        }
        news.awaitNanos(Math.min(deadline - now, lookAgainAt - now));
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
    lock.lock();
    try {
      requireHeld();
      inHand.settle(settlements);
      CompletableFuture<Void> answer;
      if (settledAlready.containsAll(settlements)) {
        settlements.forEach(settledAlready::remove);
        answer = CompletableFuture.completedFuture(null);
      } else if (state.isEmpty() && settlements.stream().allMatch(HeldLane::isComplete)) {
        answer =
            queue
                .settles()
                .complete(id, epoch, settlements.stream().mapToLong(Settled::sequence).toArray());
      } else {
        answer =
            queue.settles().settle(new SettleCall(id, epoch, false, settlements, false, state));
      }
      if (!settlements.isEmpty()
          && InHand.stopsTheSession(settlements.get(settlements.size() - 1).settlement())) {
        // Void: it comes again, behind the message that is tried again.
        fetched.clear();
        mayHaveMore = true;
        before = answer;
      }
      lastSettled = answer;
      return answer.whenComplete((done, error) -> finish(settlements, error));
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lock.unlock();
    }
  }

  private static boolean isComplete(Settled settled) {
    return settled.settlement() instanceof Settlement.Complete;
  }

  private void finish(List<Settled> settlements, @Nullable Throwable error) {
    lock.lock();
    try {
      if (error == null) {
        inHand.settled(settlements);
      } else if (error instanceof KeeperException.LockLost) {
        lost();
      } else {
        inHand.notSettled(settlements);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until everything that was settled is durable. */
  void awaitSettled() {
    CompletableFuture<?> last;
    lock.lock();
    try {
      last = lastSettled;
    } finally {
      lock.unlock();
    }
    Waits.quietly(last);
  }

  /** A transaction of the application has settled this one; whoever settles it next need not. */
  void settledByTransaction(Settled settled) {
    lock.lock();
    try {
      settledAlready.add(settled);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Lease renew() {
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
    return new StateTable(queue).read(id, epoch);
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    return new StateTable(queue).write(id, epoch, write);
  }

  /**
   * Hands the lease over to the database, for handles of other processes; this one goes through it
   * from now on too, and the end of this process does not end it. Empty when it is lost.
   */
  Optional<SharedLane> share() {
    Waits.quietly(before());
    lock.lock();
    try {
      if (shared != null) {
        return Optional.of(shared);
      }
      fetched.clear();
      // From here on the database knows what is in hand: nothing of it is to be dropped later.
      isReceived = true;
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
      fetched.clear();
      news.signalAll();
      if (isLost) {
        return;
      }
    } finally {
      lock.unlock();
    }
    queue.forget(this);
    try {
      Waits.join(queue.settles().free(id, epoch));
    } catch (KeeperException.LockLost e) {
      // Somebody else has it, which is what closing is for.
    }
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
