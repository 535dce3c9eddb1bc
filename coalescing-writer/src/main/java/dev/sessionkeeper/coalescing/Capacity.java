package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts the items and bytes that the writer holds, and lets callers wait for room.
 *
 * <p>I1: each reservation is released exactly once: when the value is stored, set aside, or given
 * up at close. Never waits while a stripe's lock is held.
 */
final class Capacity {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final long maxItems;
  private final long maxBytes;
  private long items;
  private long bytes;
  private int waiting;
  private boolean closed;

  Capacity(long maxItems, long maxBytes) {
    this.maxItems = maxItems;
    this.maxBytes = maxBytes;
  }

  boolean canEverHold(long size) {
    return size <= maxBytes;
  }

  /**
   * Reserves room for more items and bytes (either may be negative). Returns whether there was
   * room.
   */
  boolean tryTake(int moreItems, long moreBytes) {
    lock.lock();
    try {
      boolean itemsFit = moreItems <= 0 || items + moreItems <= maxItems;
      boolean bytesFit = moreBytes <= 0 || bytes + moreBytes <= maxBytes;
      if (!itemsFit || !bytesFit) {
        return false;
      }
      items += moreItems;
      bytes += moreBytes;
      return true;
    } finally {
      lock.unlock();
    }
  }

  void release(long fewerItems, long fewerBytes) {
    lock.lock();
    try {
      items -= fewerItems;
      bytes -= fewerBytes;
      if (waiting > 0) {
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the value may fit.
   *
   * @return false if the time is up, the thread was interrupted, or the writer was closed
   */
  boolean await(long size, Deadline deadline) {
    lock.lock();
    try {
      waiting++;
      while (!closed && !deadline.isOver() && (items >= maxItems || bytes + size > maxBytes)) {
        changed.await();
      }
      return !closed && !deadline.isOver();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      waiting--;
      lock.unlock();
    }
  }

  /** Ends all waits, now and later. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns how full the writer is, from 0 to 1, by the fuller of items and bytes. */
  double filled() {
    lock.lock();
    try {
      return Math.max((double) items / maxItems, (double) bytes / maxBytes);
    } finally {
      lock.unlock();
    }
  }

  long items() {
    lock.lock();
    try {
      return items;
    } finally {
      lock.unlock();
    }
  }

  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }

  /** How long one caller waits, timed by the time source so that a test can move the clock. */
  final class Deadline implements AutoCloseable {
    private final TimeSource.Timer timer;
    private boolean over;

    Deadline(TimeSource time, Duration patience) {
      timer = time.schedule(patience, this::end);
    }

    private void end() {
      lock.lock();
      try {
        over = true;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    boolean isOver() {
      lock.lock();
      try {
        return over;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      timer.cancel();
    }
  }
}
