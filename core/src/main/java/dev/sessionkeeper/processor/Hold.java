package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * A lease in hand, as its worker, the renewer and the drainer see it.
 *
 * <p>I1: it leaves HELD once, and never comes back. I2: what the worker sends after that is not
 * sent. I3: the local deadline is counted from before the call that got the lease, on monotonic
 * time, so it is never later than the store's.
 */
abstract sealed class Hold permits SessionHold, MessageHold {
  /** Where a hold stands. */
  enum Status {
    HELD,
    /** The lease ran out or was taken. */
    LOST,
    /** The drain did not wait any longer. */
    ABANDONED,
    /** Given back. */
    ENDED
  }

  /** Open while application code runs. */
  final InterruptGate calling = new InterruptGate(Thread.currentThread());

  private static final AtomicReferenceFieldUpdater<Hold, Status> STATUS =
      AtomicReferenceFieldUpdater.newUpdater(Hold.class, Status.class, "status");

  private volatile Status status = Status.HELD;
  private volatile long deadline;
  private volatile long renewAt;
  // Written before the gate opens and read when it is seen open, which orders it.
  private long callingSince;
  private volatile boolean renewing;
  private volatile boolean pastRenewal;
  private volatile boolean cutShort;

  Hold(long askedAt, long lockNanos, Jitter jitter) {
    this.deadline = askedAt + lockNanos;
    this.renewAt = askedAt + jitter.shorten(lockNanos / 3);
  }

  abstract SessionId id();

  abstract long epoch();

  /** The end of the lease by the store's clock, as last seen. */
  abstract Instant lockedUntil();

  /** Renews the lease in the store. */
  abstract void renewLease();

  /** Releases the lease, from a thread that is not its worker's. */
  abstract void giveBack();

  Status status() {
    return status;
  }

  boolean isHeld() {
    return status == Status.HELD;
  }

  /** Leaves HELD for good; true for the one caller that did it. */
  boolean become(Status next) {
    return STATUS.compareAndSet(this, Status.HELD, next);
  }

  boolean isPastDeadline(long now) {
    return now - deadline >= 0;
  }

  boolean isRenewalDue(long now) {
    return !renewing && !pastRenewal && now - renewAt >= 0;
  }

  void beginRenewal() {
    renewing = true;
  }

  void endRenewal(long nextAt) {
    renewAt = nextAt;
    renewing = false;
  }

  void extend(long newDeadline) {
    deadline = newDeadline;
  }

  /** From now on application code runs, and the limit of renewals counts anew. */
  void beginCall(long now) {
    callingSince = now;
    calling.enter();
  }

  /** Ends what {@link #beginCall} began; true when the call was interrupted by us. */
  boolean endCall() {
    return calling.leave();
  }

  boolean isCalledLongerThan(long nanos, long now) {
    return calling.isInside() && now - callingSince >= nanos;
  }

  /** The lease is not renewed any more: the call takes longer than it may. */
  void endRenewals() {
    pastRenewal = true;
  }

  boolean isPastRenewal() {
    return pastRenewal;
  }

  /** Records that a drain interrupted the handler before it finished its message. */
  void cutShort() {
    cutShort = true;
  }

  boolean isCutShort() {
    return cutShort;
  }

  KeeperException.LockLost lockLost() {
    return new KeeperException.LockLost("session " + id(), epoch());
  }
}
