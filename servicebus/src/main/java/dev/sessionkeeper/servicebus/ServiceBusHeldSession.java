package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
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
 * A session that an owner holds.
 *
 * <p>No message is ever abandoned, because after an abandon the broker delivers later messages
 * first. A retried message stays here, at the head, and its delay is written into the session's
 * record, so that another owner obeys it too.
 */
final class ServiceBusHeldSession implements HeldSession {
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);

  private final OpenSession open;
  private final ServiceBusSessions sessions;
  private final QueueContext queue;
  private final HandOut handOut;
  private final SettleDeliveries settling;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Lease lease;
  private volatile boolean closed;

  ServiceBusHeldSession(
      OpenSession open, ServiceBusSessions sessions, QueueContext queue, Lease lease) {
    this.open = open;
    this.sessions = sessions;
    this.queue = queue;
    this.handOut = new HandOut(open, queue);
    this.settling = new SettleDeliveries(open, queue, handOut);
    this.lease = lease;
    open.onLost(this::lost);
  }

  private void lost() {
    if (!handOut.hasBegun()) {
      queue.untouched(open.record().head());
    }
  }

  @Override
  public SessionId id() {
    return open.id;
  }

  @Override
  public Lease lease() {
    return lease;
  }

  boolean isLost() {
    return open.isLost();
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    if (max < 1) {
      throw new IllegalArgumentException("max must be at least 1, was " + max);
    }
    long end = queue.nanoTime() + wait.toNanos();
    while (true) {
      requireHeld();
      lock.lock();
      try {
        var batch = handOut.next(max);
        if (!batch.isEmpty()) {
          return batch;
        }
      } finally {
        lock.unlock();
      }
      var left = Duration.ofNanos(end - queue.nanoTime());
      if (!left.isPositive()) {
        return List.of();
      }
      open.inbox.want(max);
      var head = open.inbox.peek(left);
      if (head.isPresent() && queue.dueIn(head.get(), open.record()).isPositive()) {
        Thread.sleep(left.compareTo(LOOK_EVERY) < 0 ? left : LOOK_EVERY);
      }
    }
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    lock.lock();
    try {
      requireHeld();
      settling.requireInOrder(settlements);
      return settling.settle(settlements);
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
      write(state);
      return settling.settle(settlements);
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Lease renew() {
    requireHeld();
    lease = lease.until(open.renew());
    return lease;
  }

  @Override
  public SessionState state() {
    lock.lock();
    try {
      requireHeld();
      return open.readState();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    lock.lock();
    try {
      requireHeld();
      return write(write);
    } finally {
      lock.unlock();
    }
  }

  private void requireHeld() {
    if (closed) {
      throw open.lockLost();
    }
    open.requireHeld();
  }

  private SessionState write(SessionState.Write write) {
    var record = open.record();
    long version = record.state().version();
    if (write.expectedVersion() != SessionState.ANY_VERSION && write.expectedVersion() != version) {
      throw new KeeperException.StaleState(open.id, write.expectedVersion(), version);
    }
    var state = new SessionState(write.bytes().clone(), version + 1);
    open.writeRecord(record.withState(state));
    return state;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      if (!open.isLost()) {
        handOut.takeBackAll();
        sessions.givenBack(open, settling.settledUpTo());
      } else {
        open.close();
      }
    } finally {
      lock.unlock();
      sessions.closed(this);
    }
  }

  /** An open delivery. */
  record Handed(ServiceBusReceivedMessage message, int attempt) {
    long sequence() {
      return message.getSequenceNumber();
    }
  }
}
