package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * A lease of this process, as its worker, the lease renewer and the drain see it.
 *
 * <p>I1: a hold leaves HELD once and never returns to it. I2: settlements of the worker after that
 * are not sent. I3: the local deadline counts from before the call that got the lease, on monotonic
 * time, so it is never later than the store's.
 */
abstract sealed class Hold permits SessionHold, MessageHold {
  /** The status of a hold. */
  enum Status {
    HELD,
    /** The lease ran out or was taken. */
    LOST,
    /** The drain released the lease while the handler still ran. */
    ABANDONED,
    /** The lease was released. */
    ENDED
  }

  /** Open while application code runs. */
  final InterruptGate calling = new InterruptGate(Thread.currentThread());

  private static final AtomicReferenceFieldUpdater<Hold, Status> STATUS =
      AtomicReferenceFieldUpdater.newUpdater(Hold.class, Status.class, "status");

  private volatile Status status = Status.HELD;
  private volatile long deadline;
  private volatile long renewAt;
  // Written before the gate opens and read after the gate is seen open; the gate orders both
  // accesses.
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

  /** Returns the end of the lease by the store's clock, as last seen. */
  abstract Instant lockedUntil();

  /** Renews the lease in the store. */
  abstract void renewLease();

  /** Releases the lease. Called from threads other than the worker. */
  abstract void giveBack();

  Status status() {
    return status;
  }

  boolean isHeld() {
    return status == Status.HELD;
  }

  /** Leaves HELD for good. Returns true for the one caller that changed the status. */
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

  /** Marks the start of application code; the limit of renewals counts from now. */
  void beginCall(long now) {
    callingSince = now;
    calling.enter();
  }

  /** Marks the end of application code. Returns whether this processor interrupted the call. */
  boolean endCall() {
    return calling.leave();
  }

  boolean isCalledLongerThan(long nanos, long now) {
    return calling.isInside() && now - callingSince >= nanos;
  }

  /** Stops renewing the lease: the handler takes longer than {@code maxAutoRenew}. */
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
