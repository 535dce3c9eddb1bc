package dev.sessionkeeper.memory;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A session held by an owner. Every call carries the epoch under which the session was accepted.
 */
final class MemoryHeldSession implements HeldSession {
  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  private final OrderedQueue queue;
  private final SessionEntry entry;
  private final Owner owner;
  private final long epoch;
  private final boolean isResumed;
  private long leaseEnd;
  // Used by the worker only, whose calls change it.
  private boolean mayHaveMore = true;
  private volatile @Nullable Lease lease;

  /**
   * Creates a handle. The caller holds the lock of the session, which the owner has just accepted
   * or still holds.
   */
  MemoryHeldSession(OrderedQueue queue, SessionEntry entry, Owner owner, boolean isResumed) {
    this.queue = queue;
    this.entry = entry;
    this.owner = owner;
    this.epoch = entry.epoch;
    this.leaseEnd = entry.leaseEnd;
    this.isResumed = isResumed;
  }

  @Override
  public SessionId id() {
    return entry.id;
  }

  @Override
  public Lease lease() {
    var known = lease;
    if (known != null) {
      return known;
    }
    entry.lock.lock();
    try {
      return readLease();
    } finally {
      entry.lock.unlock();
    }
  }

  private Lease readLease() {
    boolean isCurrent = entry.epoch == epoch && entry.leaseEnd == leaseEnd;
    var until = isCurrent ? entry.lockedUntil(queue.ticks()) : queue.ticks().wallAt(leaseEnd);
    var read = new Lease(entry.id.value(), owner, epoch, until);
    lease = read;
    return read;
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    return receive(BatchLimit.of(max), wait);
  }

  @Override
  public List<Delivery> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    var batch = receiveNow(limit, Optional.empty());
    if (!batch.isEmpty() || wait.isZero()) {
      return batch;
    }
    try (var waiter = new Waiter(queue.ticks(), wait)) {
      try {
        while (batch.isEmpty() && !waiter.isTimedOut()) {
          batch = receiveNow(limit, Optional.of(waiter));
          if (batch.isEmpty()) {
            waiter.await();
          }
        }
        return batch.isEmpty() ? receiveNow(limit, Optional.empty()) : batch;
      } finally {
        stopWaiting(waiter);
      }
    }
  }

  private List<Delivery> receiveNow(BatchLimit limit, Optional<Waiter> waiter) {
    entry.lock.lock();
    try {
      long now = requireHeld();
      var batch = handOut(limit, now);
      mayHaveMore = entry.handed < entry.messages.size();
      if (batch.isEmpty() && waiter.isPresent()) {
        if (entry.receivers == null) {
          entry.receivers = new WaitList();
        }
        entry.receivers.add(waiter.get());
        queue.place(entry, now);
      }
      return batch;
    } finally {
      entry.lock.unlock();
    }
  }

  private List<Delivery> handOut(BatchLimit limit, long now) {
    int again = isResumed ? Math.min(limit.messages(), entry.handed) : 0;
    if (again == 0 && !entry.hasWork(now)) {
      return List.of();
    }
    int most = Math.min(limit.messages(), entry.messages.size() - entry.handed + again);
    var batch = new ArrayList<Delivery>(most);
    long bytes = 0;
    for (int i = 0; i < again; i++) {
      var open = entry.messages.get(i);
      if (!limit.hasRoomFor(open.size(), batch.size(), bytes)) {
        return batch;
      }
      bytes += open.size();
      batch.add(open.delivery());
    }
    while (batch.size() < limit.messages() && entry.hasWork(now)) {
      var next = entry.messages.get(entry.handed);
      if (entry.expiryOf(next) <= now) {
        queue.settleMessages.expire(entry, entry.handed);
      } else if (!limit.hasRoomFor(next.size(), batch.size(), bytes)) {
        return batch;
      } else {
        entry.handed++;
        bytes += next.size();
        batch.add(next.delivery());
      }
    }
    return batch;
  }

  private void stopWaiting(Waiter waiter) {
    entry.lock.lock();
    try {
      if (entry.receivers != null) {
        entry.receivers.remove(waiter);
      }
    } finally {
      entry.lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    entry.lock.lock();
    try {
      long now = requireHeld();
      entry.requireInOrder(settlements);
      apply(settlements, now);
      return DONE;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      entry.lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    entry.lock.lock();
    try {
      long now = requireHeld();
      entry.requireInOrder(settlements);
      entry.requireVersion(state);
      entry.write(state);
      apply(settlements, now);
      return DONE;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      entry.lock.unlock();
    }
  }

  private void apply(List<Settled> settlements, long now) {
    for (int i = 0; i < settlements.size(); i++) {
      queue.settleMessages.settle(entry, settlements.get(i).settlement(), now);
    }
    mayHaveMore = entry.handed < entry.messages.size();
  }

  @Override
  public Lease renew() {
    entry.lock.lock();
    try {
      long now = requireHeld();
      var duration = queue.books().settings().lockDuration();
      leaseEnd = Ticks.later(now, duration);
      entry.extend(leaseEnd);
      queue.place(entry, now);
      return readLease();
    } finally {
      entry.lock.unlock();
    }
  }

  @Override
  public SessionState state() {
    entry.lock.lock();
    try {
      requireHeld();
      return new SessionState(entry.state.bytes().clone(), entry.state.version());
    } finally {
      entry.lock.unlock();
    }
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    entry.lock.lock();
    try {
      requireHeld();
      entry.requireVersion(write);
      entry.write(write);
      return new SessionState(write.bytes().clone(), entry.state.version());
    } finally {
      entry.lock.unlock();
    }
  }

  @Override
  public void close() {
    entry.lock.lock();
    try {
      if (entry.isEmptyUnder(epoch)) {
        // Whether the lease has expired makes no difference here, so the clock is not read.
        queue.release(entry);
        queue.place(entry, Ticks.NEVER);
        return;
      }
      long now = queue.ticks().now();
      // An expired lease is not closed but expires regularly, so its attempt counts.
      if (entry.isHeldUnder(epoch, now)) {
        queue.release(entry);
      }
      queue.look(entry, now);
    } finally {
      entry.lock.unlock();
    }
  }

  @Override
  public boolean mayHaveMore() {
    return mayHaveMore;
  }

  /** Returns the time of the call; throws if the lease is not held at that time. */
  private long requireHeld() {
    long now = queue.ticks().now();
    if (!entry.isHeldUnder(epoch, now)) {
      throw new KeeperException.LockLost("session " + entry.id, epoch);
    }
    return now;
  }
}
