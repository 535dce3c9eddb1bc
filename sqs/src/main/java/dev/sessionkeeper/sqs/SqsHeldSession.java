package dev.sessionkeeper.sqs;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A message group with messages in flight to this process.
 *
 * <p>SQS has no owners: a group belongs to this process while one of its messages is in flight
 * here. When the last one is settled the group is free, and the next {@link #receive} may take it
 * anew, with a higher epoch, unless another owner is faster.
 */
final class SqsHeldSession implements HeldSession {
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);

  private final SqsQueue queue;
  private final SqsSessions sessions;
  private final InFlight inFlight;
  private final SettleDeliveries settling;
  private final SessionId id;
  private final String group;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Lease lease;

  SqsHeldSession(
      SqsQueue queue, SqsSessions sessions, DeleteMessages deleting, Batch batch, Lease lease) {
    this.queue = queue;
    this.sessions = sessions;
    this.id = batch.session();
    this.group = batch.group();
    this.lease = lease;
    this.inFlight = new InFlight(queue, id, new VetMessages(queue, deleting));
    this.settling = new SettleDeliveries(queue, id, inFlight, deleting);
    inFlight.add(batch);
  }

  @Override
  public SessionId id() {
    return id;
  }

  String group() {
    return group;
  }

  @Override
  public Lease lease() {
    return lease;
  }

  /**
   * Takes messages that arrived for this group while it had none. Returns false if the group is not
   * free.
   */
  boolean refill(Batch batch, long epoch) {
    lock.lock();
    try {
      if (inFlight.isClosed() || !inFlight.isEmpty()) {
        return false;
      }
      inFlight.add(batch);
      lease = new Lease(id.value(), lease.owner(), epoch, sessions.lockedUntil());
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
    long end = queue.time().nanoTime() + wait.toNanos();
    while (true) {
      boolean isEmpty;
      lock.lock();
      try {
        requireHeld();
        var batch = inFlight.handOut(max);
        if (!batch.isEmpty()) {
          return batch;
        }
        isEmpty = inFlight.isEmpty();
      } finally {
        lock.unlock();
      }
      var left = Duration.ofNanos(end - queue.time().nanoTime());
      if (!left.isPositive()) {
        return List.of();
      }
      if (isEmpty) {
        sessions.awaitArrival(this, left);
      } else {
        Thread.sleep(left.compareTo(LOOK_EVERY) < 0 ? left : LOOK_EVERY);
      }
    }
  }

  boolean hasArrived() {
    lock.lock();
    try {
      return inFlight.isClosed() || !inFlight.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    lock.lock();
    try {
      requireHeld();
      settling.requireInOrder(settlements);
      return settling.settle(settlements, lease.epoch());
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    lock.lock();
    try {
      requireHeld();
      settling.requireInOrder(settlements);
      states().write(queue.name(), id, lease.epoch(), state);
      return settling.settle(settlements, lease.epoch());
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Lease renew() {
    lock.lock();
    try {
      requireHeld();
      if (!inFlight.hideAll(queue.lockSeconds())) {
        throw inFlight.isClosed()
            ? lockLost()
            : new KeeperException.Unavailable("SQS queue " + queue.name());
      }
      lease = lease.until(sessions.lockedUntil());
      return lease;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public SessionState state() {
    lock.lock();
    try {
      requireHeld();
      return states().read(queue.name(), id);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    lock.lock();
    try {
      requireHeld();
      return states().write(queue.name(), id, lease.epoch(), write);
    } finally {
      lock.unlock();
    }
  }

  private SessionStateStore states() {
    return queue
        .states()
        .orElseThrow(
            () -> new KeeperException.NotSupported("sqs", "keep state without a state store"));
  }

  private void requireHeld() {
    if (inFlight.isLost()) {
      throw lockLost();
    }
  }

  private KeeperException.LockLost lockLost() {
    return new KeeperException.LockLost("session " + id, lease.epoch());
  }

  /**
   * Returns false: a message stays in flight until its deletion, and keeps other consumers out
   * until then.
   */
  @Override
  public boolean closesBehindSettlements() {
    return true;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      inFlight.giveBackAll();
    } finally {
      lock.unlock();
    }
    sessions.closed(this);
  }
}
