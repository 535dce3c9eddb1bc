package dev.sessionkeeper.postgres.claim;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.postgres.lease.OwnedSession;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A consumer that waits for a session, and gets one, an error, or nothing in time. */
public final class WaitingConsumer {
  private final Owner owner;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable OwnedSession served;
  private @Nullable RuntimeException failure;
  private boolean tookPart;
  private boolean isOverdue;
  private boolean gone;

  WaitingConsumer(Owner owner) {
    this.owner = owner;
  }

  Owner owner() {
    return owner;
  }

  boolean isDone() {
    lock.lock();
    try {
      return gone || served != null || failure != null;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether no poll has ended since the consumer arrived. */
  boolean isNew() {
    lock.lock();
    try {
      return !tookPart;
    } finally {
      lock.unlock();
    }
  }

  /** Gives the consumer a session. Returns false if the consumer has stopped waiting. */
  boolean offer(OwnedSession session) {
    lock.lock();
    try {
      if (gone || served != null) {
        return false;
      }
      served = session;
      changed.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  void fail(RuntimeException e) {
    lock.lock();
    try {
      failure = e;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Records that a poll has ended which began after the consumer arrived. */
  void tookPart() {
    lock.lock();
    try {
      tookPart = true;
      // A consumer with time left looks when its time is over.
      if (isOverdue) {
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for a session for the given time, and at least for one poll. Afterwards the consumer has
   * stopped waiting. If the wait is interrupted, a session that arrived at the same moment is given
   * back.
   */
  public Optional<OwnedSession> await(TimeSource time, Duration wait) throws InterruptedException {
    long started = time.nanoTime();
    OwnedSession unwanted = null;
    lock.lock();
    try {
      while (served == null && failure == null) {
        long left = wait.toNanos() - (time.nanoTime() - started);
        if (left <= 0 && tookPart) {
          break;
        }
        if (left > 0) {
          changed.awaitNanos(left);
        } else {
          isOverdue = true;
          changed.await();
        }
      }
      gone = true;
      if (served == null && failure != null) {
        throw failure;
      }
      return Optional.ofNullable(served);
    } catch (InterruptedException e) {
      gone = true;
      unwanted = served;
      throw e;
    } finally {
      lock.unlock();
      if (unwanted != null) {
        unwanted.giveBackUnused();
      }
    }
  }
}
