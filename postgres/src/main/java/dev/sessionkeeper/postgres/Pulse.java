package dev.sessionkeeper.postgres;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes everybody who waits for something to change in a queue. */
final class Pulse {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition beaten = lock.newCondition();
  private long beats;

  /** How often it has beaten; to be read before looking. */
  long beats() {
    lock.lock();
    try {
      return beats;
    } finally {
      lock.unlock();
    }
  }

  void beat() {
    lock.lock();
    try {
      beats++;
      beaten.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a beat after those that were seen, at most so long. */
  void await(long seen, long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (beats == seen && left > 0) {
        left = beaten.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
