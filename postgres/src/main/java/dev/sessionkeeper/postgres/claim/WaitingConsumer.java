package dev.sessionkeeper.postgres.claim;

import dev.sessionkeeper.postgres.lease.OwnedSession;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Somebody who waits for a session; gets one, an error, or nothing in time. */
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

  /** Whether no round has passed since it came. */
  boolean isNew() {
    lock.lock();
    try {
      return !tookPart;
    } finally {
      lock.unlock();
    }
  }

  /** Gives it a lane; false when it has gone. */
  boolean offer(OwnedSession lane) {
    lock.lock();
    try {
      if (gone || served != null) {
        return false;
      }
      served = lane;
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

  /** A round that began after it came is over. */
  void tookPart() {
    lock.lock();
    try {
      tookPart = true;
      // Who has time left looks at it when that is over.
      if (isOverdue) {
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits so long, but at least for one round. Afterwards it is gone; if it is interrupted, a lane
   * that came in the same moment is given back.
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
