package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;

/**
 * Locked sessions that wait for a worker of this process, and the waiting workers.
 *
 * <p>A lock without a waiting worker keeps other processes from working, so it is released at once,
 * or after {@link #KEPT} if a worker has just asked for one.
 */
final class ReadySessions {
  private static final Duration KEPT = Duration.ofSeconds(1);

  /** The extra wait for a session that the broker has already granted. */
  private static final Duration GRACE = Duration.ofMillis(500);

  private final TimeSource time;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Ready> ready = new ArrayDeque<>();
  private int waiters;
  private int expected;
  private long keepUntil;
  private boolean closed;

  ReadySessions(TimeSource time) {
    this.time = time;
    this.keepUntil = time.nanoTime();
  }

  /**
   * Returns the session that became ready first, and waits for one.
   *
   * @param lockFor receives the number of waiting workers whenever more sessions should be locked
   */
  Optional<OpenSession> take(Duration wait, IntConsumer lockFor) throws InterruptedException {
    long end = time.nanoTime() + wait.toNanos();
    long graceEnd = end + GRACE.toNanos();
    lock.lock();
    try {
      waiters++;
      while (true) {
        var first = ready.poll();
        if (first != null && renewIfHeld(first)) {
          return Optional.of(first.session());
        }
        long left = (expected > 0 ? graceEnd : end) - time.nanoTime();
        if (closed || left <= 0) {
          return Optional.empty();
        }
        if (first == null) {
          lockFor.accept(waiters);
          changed.awaitNanos(left);
        }
      }
    } finally {
      waiters--;
      lock.unlock();
    }
  }

  /**
   * Returns whether the session is still held. A worker counts the lock from its request, so a lock
   * that has waited here is renewed first.
   */
  private boolean renewIfHeld(Ready first) {
    if (first.session().isLost()) {
      return false;
    }
    if (time.since(first.since()).compareTo(Duration.ofMillis(100)) < 0) {
      return true;
    }
    try {
      first.session().renew();
      return true;
    } catch (KeeperException e) {
      first.session().close();
      return false;
    }
  }

  /** Returns a chosen session, if it is ready. */
  Optional<OpenSession> take(SessionId id) {
    lock.lock();
    try {
      var found = ready.stream().filter(each -> each.session().id.equals(id)).findFirst();
      found.ifPresent(ready::remove);
      return found.filter(this::renewIfHeld).map(Ready::session);
    } finally {
      lock.unlock();
    }
  }

  /** Offers a locked session; returns false if no caller waits. */
  boolean offer(OpenSession session) {
    lock.lock();
    try {
      if (closed || (waiters == 0 && keepUntil - time.nanoTime() <= 0)) {
        return false;
      }
      var entry = new Ready(session, time.nanoTime());
      ready.add(entry);
      changed.signalAll();
      time.schedule(KEPT, () -> giveUp(entry));
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void giveUp(Ready entry) {
    lock.lock();
    try {
      if (!ready.remove(entry)) {
        return;
      }
    } finally {
      lock.unlock();
    }
    Thread.startVirtualThread(entry.session()::close);
  }

  /** Records that the broker has granted a session, which is offered soon or not at all. */
  void expectOne() {
    lock.lock();
    try {
      expected++;
    } finally {
      lock.unlock();
    }
  }

  void expectedCame() {
    lock.lock();
    try {
      expected--;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Keeps the next offered session for a caller that asks again. */
  void keepNext() {
    lock.lock();
    try {
      keepUntil = time.nanoTime() + KEPT.toNanos();
    } finally {
      lock.unlock();
    }
  }

  /** Wakes all waiting workers, because another process has changed the queue. */
  void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  boolean isWantedByAnyone() {
    lock.lock();
    try {
      return waiters > 0;
    } finally {
      lock.unlock();
    }
  }

  boolean isEmpty() {
    lock.lock();
    try {
      return ready.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      ready.forEach(entry -> entry.session().close());
      ready.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private record Ready(OpenSession session, long since) {}
}
