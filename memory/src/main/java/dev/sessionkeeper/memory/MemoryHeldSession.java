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

/** A lane held by an owner. Every call carries the epoch under which the lane was accepted. */
final class MemoryHeldSession implements HeldSession {
  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  private final OrderedQueue queue;
  private final Lane lane;
  private final Owner owner;
  private final long epoch;
  private final boolean isResumed;
  private long leaseEnd;
  // Used by the worker only, whose calls change it.
  private boolean mayHaveMore = true;
  private volatile @Nullable Lease lease;

  /** The caller holds the lock of the lane, which the owner has just accepted or still holds. */
  MemoryHeldSession(OrderedQueue queue, Lane lane, Owner owner, boolean isResumed) {
    this.queue = queue;
    this.lane = lane;
    this.owner = owner;
    this.epoch = lane.epoch;
    this.leaseEnd = lane.leaseEnd;
    this.isResumed = isResumed;
  }

  @Override
  public SessionId id() {
    return lane.id;
  }

  @Override
  public Lease lease() {
    var known = lease;
    if (known != null) {
      return known;
    }
    lane.lock.lock();
    try {
      return readLease();
    } finally {
      lane.lock.unlock();
    }
  }

  private Lease readLease() {
    boolean isCurrent = lane.epoch == epoch && lane.leaseEnd == leaseEnd;
    var until = isCurrent ? lane.lockedUntil(queue.ticks()) : queue.ticks().wallAt(leaseEnd);
    var read = new Lease(lane.id.value(), owner, epoch, until);
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
    lane.lock.lock();
    try {
      long now = requireHeld();
      var batch = handOut(limit, now);
      mayHaveMore = lane.handed < lane.messages.size();
      if (batch.isEmpty() && waiter.isPresent()) {
        if (lane.receivers == null) {
          lane.receivers = new WaitList();
        }
        lane.receivers.add(waiter.get());
        queue.place(lane, now);
      }
      return batch;
    } finally {
      lane.lock.unlock();
    }
  }

  private List<Delivery> handOut(BatchLimit limit, long now) {
    int again = isResumed ? Math.min(limit.messages(), lane.handed) : 0;
    if (again == 0 && !lane.hasWork(now)) {
      return List.of();
    }
    int most = Math.min(limit.messages(), lane.messages.size() - lane.handed + again);
    var batch = new ArrayList<Delivery>(most);
    long bytes = 0;
    for (int i = 0; i < again; i++) {
      var open = lane.messages.get(i);
      if (!limit.hasRoomFor(open.size(), batch.size(), bytes)) {
        return batch;
      }
      bytes += open.size();
      batch.add(open.delivery());
    }
    while (batch.size() < limit.messages() && lane.hasWork(now)) {
      var next = lane.messages.get(lane.handed);
      if (lane.expiryOf(next) <= now) {
        queue.settleMessages.expire(lane, lane.handed);
      } else if (!limit.hasRoomFor(next.size(), batch.size(), bytes)) {
        return batch;
      } else {
        lane.handed++;
        bytes += next.size();
        batch.add(next.delivery());
      }
    }
    return batch;
  }

  private void stopWaiting(Waiter waiter) {
    lane.lock.lock();
    try {
      if (lane.receivers != null) {
        lane.receivers.remove(waiter);
      }
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    lane.lock.lock();
    try {
      long now = requireHeld();
      lane.requireInOrder(settlements);
      apply(settlements, now);
      return DONE;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    lane.lock.lock();
    try {
      long now = requireHeld();
      lane.requireInOrder(settlements);
      lane.requireVersion(state);
      lane.write(state);
      apply(settlements, now);
      return DONE;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lane.lock.unlock();
    }
  }

  private void apply(List<Settled> settlements, long now) {
    for (int i = 0; i < settlements.size(); i++) {
      queue.settleMessages.settle(lane, settlements.get(i).settlement(), now);
    }
    mayHaveMore = lane.handed < lane.messages.size();
  }

  @Override
  public Lease renew() {
    lane.lock.lock();
    try {
      long now = requireHeld();
      var duration = queue.books().settings().lockDuration();
      leaseEnd = Ticks.later(now, duration);
      lane.extend(leaseEnd);
      queue.place(lane, now);
      return readLease();
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public SessionState state() {
    lane.lock.lock();
    try {
      requireHeld();
      return new SessionState(lane.state.bytes().clone(), lane.state.version());
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    lane.lock.lock();
    try {
      requireHeld();
      lane.requireVersion(write);
      lane.write(write);
      return new SessionState(write.bytes().clone(), lane.state.version());
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public void close() {
    lane.lock.lock();
    try {
      if (lane.isEmptyUnder(epoch)) {
        // Whether the lease has expired makes no difference here, so the clock is not read.
        queue.release(lane);
        queue.place(lane, Ticks.NEVER);
        return;
      }
      long now = queue.ticks().now();
      // An expired lease is not closed but expires regularly, so its attempt counts.
      if (lane.isHeldUnder(epoch, now)) {
        queue.release(lane);
      }
      queue.look(lane, now);
    } finally {
      lane.lock.unlock();
    }
  }

  @Override
  public boolean mayHaveMore() {
    return mayHaveMore;
  }

  /** Returns the time of the call; fails if the lease is not held then. */
  private long requireHeld() {
    long now = queue.ticks().now();
    if (!lane.isHeldUnder(epoch, now)) {
      throw new KeeperException.LockLost("session " + lane.id, epoch);
    }
    return now;
  }
}
